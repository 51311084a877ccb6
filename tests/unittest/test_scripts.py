"""Programs of NumPy, run by `python -m npcompat` as they are."""

import os
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path

import numpy as onp
import pytest

from npcompat import np

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted((ROOT / "examples" / "scripts").glob("*.py"))


def run(*arguments, cwd=None, stdin=None):
    found = subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=cwd,
        stdin=stdin,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return found.returncode, found.stdout, found.stderr


@pytest.mark.parametrize("script", SCRIPTS, ids=[s.stem for s in SCRIPTS])
def test_scripts_print_what_they_print_with_numpy(script):
    code, printed, errors = run(script)
    assert code == 0, errors
    assert run("-m", "npcompat", script) == (0, printed, errors)


PROGRAM = """
    import sys
    import numpy
    import numpy as np
    import numpy.linalg
    import numpy.random as random
    from numpy import linspace, pi
    from numpy.fft import rfft
    import helper
    from package.part import value

    assert type(np.zeros(2)) is sys.modules["npcompat"].np.ndarray
    assert str(type(np.zeros(2))) == "<class 'numpy.ndarray'>"
    assert np.zeros(2).dtype == "float64" and numpy.linalg.norm(linspace(0, 1, 2)) == 1
    assert type(helper.made()) is type(np.zeros(2)) and value().sum() == 3
    assert type(random.default_rng(0).random(2)) is np.ndarray and rfft(np.ones(4))[0] == 4

    import scipy.ndimage, scipy.special, scipy.stats
    drawn = []
    for _ in range(2):
        np.random.seed(3)
        drawn.append((scipy.stats.norm.rvs(size=2), np.random.rand(2)))
    assert (drawn[0][0] == drawn[1][0]).all() and (drawn[0][1] == drawn[1][1]).all()
    for make in (np.random.default_rng, np.random.RandomState):
        a, b = (scipy.stats.norm.rvs(size=3, random_state=make(5)) for _ in range(2))
        assert (a == b).all() and a.shape == (3,)
    given = np.arange(5.0)
    found = scipy.ndimage.uniform_filter1d(given, 3)
    assert type(found) is np.ndarray
    into = np.ones(5)
    scipy.ndimage.shift(given, 1, output=into, order=0)
    assert into.tolist() == [0, 0, 1, 2, 3]

    table = {}
    table[tuple(np.arange(2))] = [n for n in range(3)]
    text = "x"[0] + f"{np.float64(1):.1f}"
    class Model:
        def __init__(self, n):
            super().__init__()
            self.n = n
        def grow(self, *more, **named):
            return [self.n + m for m in more] + sorted(named)
    def numbers():
        yield from (i for i in range(3))
    @staticmethod
    def decorated(x): return x
    print(sys.argv, __name__, Model(1).grow(2, a=3), sum(numbers()), (lambda x: x * 2)(4), text)
"""


@pytest.fixture
def project(tmp_path):
    (tmp_path / "program.py").write_text(textwrap.dedent(PROGRAM))
    (tmp_path / "helper.py").write_text("import numpy\ndef made(): return numpy.ones(3)\n")
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("")
    (tmp_path / "package" / "__main__.py").write_text(
        "import sys\nfrom .part import value\nprint(value(), type(value()).__module__, sys.argv[1:])"
    )
    (tmp_path / "package" / "part.py").write_text(
        "import numpy as np\ndef value(): return np.arange(3)\n"
    )
    return tmp_path


def test_a_program_of_several_files(project):
    code, printed, errors = run("-m", "npcompat", "program.py", "--flag", "-m", cwd=project)
    assert (code, errors) == (0, "")
    assert printed == "['program.py', '--flag', '-m'] __main__ [3, 'a'] 3 8 x1.0\n"


def test_modules_that_runpy_runs(project):
    (project / "main.py").write_text(
        "import runpy\n"
        "for name in ('helper', 'package.part'):\n"
        "    print(runpy.run_module(name)['__doc__'])\n"
    )
    (project / "helper.py").write_text(
        '"""Text."""\nfrom __future__ import annotations\nimport numpy as np\nx = np.ones(2)\n'
        "print(list(map(np.sum, [x, x])), isinstance(x, np.ndarray))\n"
    )
    expected = run("main.py", cwd=project)
    assert expected[0] == 0, expected[2]
    code, found, errors = run("-m", "npcompat", "main.py", cwd=project)
    assert code == 0, errors
    assert found == expected[1]


def test_modules_and_code(project):
    code, printed, _ = run("-m", "npcompat", "-m", "package", "a", "-b", cwd=project)
    assert code == 0 and printed == "[0 1 2] numpy ['a', '-b']\n"
    code, printed, _ = run("-m", "npcompat", "-c", "import numpy; print(numpy.ones(2).device)")
    assert code == 0 and printed == "cpu(0)\n"


OF_A_LIBRARY = """
    import numpy as np
    import scipy.sparse

    def fresh():
        return scipy.sparse.csr_matrix(np.array([[1.0, 0.0], [2.0, 3.0]]))

    for view in (
        np.asarray, np.asanyarray, np.ravel, np.ascontiguousarray, np.require, np.transpose, np.squeeze,
        np.atleast_1d, np.flip, lambda x: np.reshape(x, (3, 1))[:, 0], lambda x: np.array(x, copy=None),
        lambda x: np.split(x, 3)[1], lambda x: np.expand_dims(x, 0)[0], lambda x: np.moveaxis(x, 0, 0),
    ):
        matrix = fresh()
        view(matrix.data)[0] = 7
        print(matrix.data)
        np.array(matrix.data)[0] = 8
        np.asarray(matrix.data, dtype="float32")[0] = 9
        print(matrix.data)
    np.save("kept.npy", np.zeros(3))
    kept = np.load("kept.npy", mmap_mode="r+")
    np.asarray(kept)[1] = 4
    del kept
    print(np.load("kept.npy"))
    locked = fresh()
    locked.data.flags.writeable = False
    try:
        np.asarray(locked.data)[0] = 1
    except ValueError as error:
        print(error)
"""


def test_writes_into_what_belongs_to_a_library_are_seen(tmp_path):
    (tmp_path / "main.py").write_text(textwrap.dedent(OF_A_LIBRARY))
    expected = run("main.py", cwd=tmp_path)
    assert expected[0] == 0, expected[2]
    assert run("-m", "npcompat", "main.py", cwd=tmp_path) == expected
    held = onp.zeros(3)
    np.asarray(held)[0] = 1  # without the runner it copies
    assert not held.any()


WITH_NUMBA = """
    import numpy as np
    import numba as nb
    from numba import njit
    from numpy import sqrt

    @njit
    def norm(x):
        return np.sqrt((x * x).sum())

    @nb.njit(cache=False)
    def helper(i):
        return np.floor(i / 2.0)

    @njit
    def build(n):
        out = np.zeros((n, n))
        for i in range(n):
            for j in range(n):
                out[i, j] = sqrt(i * j) + helper(i) + np.linalg.norm(np.ones(2)) + np.pi
        return out

    def plain(a, b):
        return np.dot(a, b) + len(a)

    fast = nb.jit(nopython=True)(plain)

    @njit
    def fill(x, v):
        for i in range(len(x)):
            x[i] = v * i

    @nb.experimental.jitclass([("x", nb.float64[:])])
    class Summed:
        def __init__(self, x):
            self.x = x

        def total(self):
            return np.sum(self.x) + len(self.x)

    a = np.arange(5.0)
    print(norm(a), build(3), fast(a, a), Summed(a).total())
    fill(a, a.max())
    print(a, a.sum())

    # where the source does not say so

    compiled = njit(cache=False)

    def by_own(function):
        return nb.njit(function)

    @compiled
    def first(a):
        return a[a > 1][0]

    @by_own
    def nested(a):
        def inner(x):
            return x[1:] * 2 + isinstance(x, int)
        return inner(a)

    def enclosed(m):
        def scaled(a, s=2.0):
            return a[::2] * m + s
        return njit(scaled), scaled

    class Tail:
        def __init__(self, x):
            self.x = x

        def total(self):
            return np.sum(self.x[1:])

    Made = nb.experimental.jitclass([("x", nb.float64[:])])(Tail)
    one, other = njit(lambda a: a[0] + 1), njit(lambda a: a[1:].sum())
    of_list = [njit(f) for f in (plain,)][0]

    def increased(a):
        pass

    @nb.extending.overload(increased)
    def of_arrays(a):
        def of_array(a):
            return a[:2] + 1
        return of_array

    print(first(a), nested(a), [f(a) for f in enclosed(2.0)], Made(a).total(), one(a), other(a))
    print(of_list(a, a), njit(lambda a: increased(a))(a))
"""


def test_functions_that_numba_compiles(tmp_path):
    pytest.importorskip("numba")
    (tmp_path / "main.py").write_text(textwrap.dedent(WITH_NUMBA))
    expected = run("main.py", cwd=tmp_path)
    assert expected[0] == 0, expected[2]
    assert run("-m", "npcompat", "main.py", cwd=tmp_path) == expected


def test_writes_into_memory_of_others_reach_it_on_xla(project):
    (project / "shared.py").write_text(
        "import ctypes\nimport numpy as np\n"
        "memory, numbers = bytearray(4), (ctypes.c_int * 2)()\n"
        "a, b = np.frombuffer(memory, np.uint8), np.asarray(numbers)\n"
        "a[0], b[1] = 7, 5\nmemory[1] = 8\n"
        "print(memory[0], list(numbers), a, a + np.ones(4, np.uint8))\n"
    )
    code, printed, errors = run("-m", "npcompat", "--backend", "jax", "shared.py", cwd=project)
    assert (code, printed) == (0, "7 [0, 5] [7 8 0 0] [8 9 1 1]\n"), errors


def test_options(project):
    (project / "step.py").write_text(
        "import numpy as np\n"
        "def step(x):\n    print('traced')\n    return x * 2\n"
        "for i in range(3):\n    x = step(np.ones(3))\nprint(x, type(x._value.payload).__module__)\n"
    )
    code, printed, _ = run("-m", "npcompat", "--jit", "step", "step.py", cwd=project)
    assert code == 0 and printed.startswith("traced\n[2. 2. 2.]"), printed
    code, printed, errors = run(
        "-m", "npcompat", "--backend", "jax", "--audit", "step.py", cwd=project
    )
    assert code == 0 and "jax" in printed.splitlines()[-1] and "step.py:7" in errors, errors
    code, _, errors = run("-m", "npcompat", "nowhere.py", cwd=project)
    assert code == 2 and "there is no file 'nowhere.py'" in errors
    code, _, errors = run("-m", "npcompat", cwd=project)
    assert code == 2 and "expected a script" in errors


@pytest.mark.parametrize(
    ("option", "value"),
    [("--backend", "abacus"), ("--device", "abacus"), ("--device", "tpu(7)")],
)
def test_a_place_that_is_not_there_is_a_wrong_usage(option, value):
    code, printed, errors = run("-m", "npcompat", option, value, "-c", "print('ran')")
    assert (code, printed) == (2, "") and "usage: python -m npcompat" in errors
    assert "Traceback" not in errors and value.partition("(")[0] in errors


def test_functions_to_compile_that_are_not_defined_are_reported(project):
    (project / "helper.py").write_text("def imported(x): return x\n")
    source = """
        import helper
        async def later(): pass
        class Model:
            def step(self, x): return x + 1
        helper.imported(Model().step(1))
        raise SystemExit(3)
    """
    (project / "main.py").write_text(textwrap.dedent(source))
    names = [part for n in ("imported", "step", "later", "stepp") for part in ("--jit", n)]
    code, _, errors = run("-m", "npcompat", *names, "main.py", cwd=project)
    reported = [line.split()[4] for line in errors.splitlines() if "nothing was compiled" in line]
    assert code == 3 and reported == ["later:", "stepp:"], errors


AUDITED = """
    import numpy as np
    import scipy.ndimage
    import scipy.sparse
    from scipy.ndimage import gaussian_filter as smooth

    class Model:
        def predict(self, x): return norm(x) * x + 1
    def norm(x): return np.sqrt(x * x)
    def compiled(x): return np.sqrt(x * x)
    def of_one_operator(x): return x + 1
    def without_arrays(x): return 3
    def suspended(x):
        yield x * x + 1
    def rarely_called(x): return x * x + 1

    x = np.arange(4.0)
    for i in range(12):
        Model().predict(smooth(x, 1))
        for f in (compiled, of_one_operator, without_arrays, lambda x: x * x + 1): f(x)
        list(suspended(x))
        scipy.ndimage.shift(list(x), [1])
        if i < 9: rarely_called(x)
    matrix = scipy.sparse.csr_array(np.eye(4))
    matrix[np.array([0, 1])], matrix.T[np.array([2])]
    matrix.data = x
    raise SystemExit(3)
"""


def test_the_audit_says_what_ran_where_what_was_lent_and_what_is_called_often(tmp_path):
    (tmp_path / "main.py").write_text(textwrap.dedent(AUDITED))
    code, printed, errors = run(
        "-m", "npcompat", "--audit", "--jit", "compiled", "main.py", cwd=tmp_path
    )
    assert (code, printed) == (3, ""), errors
    costs, where, lent, often = (part.splitlines() for part in errors.split("\n\n"))
    assert costs[0] == "hidden costs:" and any("compiled(float64[4])" in line for line in costs)
    rows = {row[0]: row[1:] for row in map(str.split, where[3:])}
    assert rows["xla"] == ["0", "12"] and int(rows["numpy"][0]) > 100
    assert {tuple(line.split(maxsplit=4)) for line in lent[3:]} == {
        ("12", "12", "384", "B", "scipy.ndimage.gaussian_filter"),
        ("12", "48", "384", "B", "scipy.ndimage.shift"),
        ("1", "1", "128", "B", "scipy.sparse.csr_array"),
        ("1", "1", "16", "B", "scipy.sparse.csr_array, keys"),
        ("1", "1", "8", "B", "scipy.sparse.csc_array, keys"),
        ("1", "1", "32", "B", "scipy.sparse.csr_array, attributes"),
    }
    assert [line.split() for line in often[3:]] == [
        ["12", "48", "main.py:8", "predict"],
        ["12", "24", "main.py:9", "norm"],
    ]


def test_the_audit_of_a_program_without_arrays():
    _, _, errors = run("-m", "npcompat", "--audit", "-c", "print(1)")
    for text in ("nothing was found", "nothing ran", "nothing was lent", "no function was found"):
        assert text in errors


def test_tracebacks_show_the_programs_lines(project):
    (project / "wrong.py").write_text(
        "import numpy as np\n\n\ndef f(x):\n    return x[7]\n\n\nf(np.ones(3))\n"
    )
    code, _, errors = run("-m", "npcompat", "wrong.py", cwd=project)
    assert code == 1 and 'wrong.py", line 8' in errors and 'wrong.py", line 5' in errors
    assert "    return x[7]" in errors and "IndexError: index 7 is out of bounds" in errors


def test_errors_are_shown_from_the_program_on(tmp_path):
    script = tmp_path / "failing.py"
    script.write_text(
        textwrap.dedent("""
        import numpy as np

        def part(a):
            return int("x") + a

        try:
            part(np.zeros(2))
        except ValueError as error:
            raise KeyError("no such part") from error
        """)
    )
    found = run("-m", "npcompat", script)
    assert found == run(script) and found[0] == 1 and "KeyError" in found[2]
    code = ("-c", "import numpy as np; 1 / 0")
    assert run("-m", "npcompat", *code) == run(*code)


AS_PYTHON_RUNS_IT = """
from __future__ import annotations
import dataclasses, inspect, os, sys, typing
import numpy as np
import numpy.typing as npt

@dataclasses.dataclass
class Simulation:
    g: typing.ClassVar[float] = 9.81
    x0: dataclasses.InitVar[object] = None
    n: int = 3
    d: npt.NDArray[np.float64] | None = None

    def __post_init__(self, x0):
        self.x: typing.Optional[int] = x0

def function(a: npt.NDArray[np.float64], *b: list[int], k: dict[str, int] = {}) -> tuple[int, ...]:
    found: typing.List[int] = [1]
    return found

print(inspect.signature(function), [(f.name, f.type) for f in dataclasses.fields(Simulation)])
print(Simulation(None, 2), sys.argv[1:], sys.path[0], __annotations__, __package__, __name__)
os.chdir("/")
print(*[os.path.exists(v) for k, v in list(globals().items()) if k == "__file__"])
"""


@pytest.mark.parametrize("how", ["file", "-", "folder", "-m"])
def test_a_program_is_where_python_has_it(tmp_path, how):
    for name in ("main.py", "__main__.py"):
        (tmp_path / name).write_text(AS_PYTHON_RUNS_IT)
    arguments = {"file": ["main.py"], "-": ["-"], "folder": ["."], "-m": ["-m", "main"]}[how]
    with (tmp_path / "main.py").open() as given:
        expected = run(*arguments, "x", cwd=tmp_path, stdin=given)
        given.seek(0)
        assert run("-m", "npcompat", *arguments, "x", cwd=tmp_path, stdin=given) == expected
    assert expected[0] == 0, expected[2]


def test_syntax_errors_are_shown_as_by_python(tmp_path):
    (tmp_path / "main.py").write_text("import numpy as np\nx = (1,\nprint(x)\n")
    expected = run("main.py", cwd=tmp_path)
    assert expected[0] == 1 and "never closed" in expected[2]
    assert run("-m", "npcompat", "main.py", cwd=tmp_path) == expected


def test_archives_are_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "main.pyz", "w") as archive:
        archive.writestr("__main__.py", "print(1)")
    code, printed, errors = run("-m", "npcompat", "main.pyz", cwd=tmp_path)
    assert (code, printed) == (2, "") and "unpack it" in errors


def test_a_programs_log_has_its_own_lines_only(tmp_path):
    (tmp_path / "main.py").write_text(
        "import logging, sys\nimport numpy as np\n"
        "logging.basicConfig(level=logging.DEBUG, stream=sys.stdout)\n"
        "np.random.default_rng(0).permutation(3), np.fft.fft(np.ones(3))\n"
        "logging.info('%s', np.arange(3).sum())\n"
    )
    expected = run("main.py", cwd=tmp_path)
    assert run("-m", "npcompat", "main.py", cwd=tmp_path) == expected == (0, "INFO:root:3\n", "")


SPAWNING = """
    import multiprocessing as mp
    from concurrent.futures import ProcessPoolExecutor

    import numpy as np

    if __name__ == "__main__":
        spawned = mp.get_context("spawn")
        with spawned.Pool(1) as pool:
            print(pool.map(np.var, [[1e8, 1e8 + 1]]), pool.map(np.mean, [[16777217.0]]))
        with ProcessPoolExecutor(1, mp_context=spawned) as pool:
            print(list(pool.map(np.std, [[1e8, 1e8 + 1]])))
        print("NPCOMPAT_DEFAULT_DTYPE" in __import__("os").environ)
"""


def test_functions_sent_to_spawned_processes_have_numpys_dtypes(tmp_path):
    (tmp_path / "main.py").write_text(textwrap.dedent(SPAWNING))
    expected = run("main.py", cwd=tmp_path)
    assert expected[0] == 0, expected[2]
    assert run("-m", "npcompat", "main.py", cwd=tmp_path) == expected
