"""IPython's extension: cells run on npcompat."""

import numpy as onp
import pytest

from npcompat import np, npx

IPython = pytest.importorskip("IPython")

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def shell():
    from IPython.core.interactiveshell import InteractiveShell

    found = InteractiveShell()
    yield found
    if "npcompat" in found.extension_manager.loaded:
        found.run_line_magic("unload_ext", "npcompat")


def run(shell, cell):
    done = shell.run_cell(cell)
    done.raise_error()
    return done.result


def test_cells_run_on_npcompat(shell, tmp_path, monkeypatch):
    (tmp_path / "module_of_a_notebook.py").write_text(
        "import numpy\ndef made(): return numpy.ones(3)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    run(shell, "import numpy as np\nold = np.zeros(2)")
    shell.run_line_magic("load_ext", "npcompat")
    assert run(shell, "np.zeros(2)").dtype == "float64"
    assert (
        type(run(shell, "np.zeros(2)")) is np.ndarray and type(shell.user_ns["old"]) is onp.ndarray
    )
    assert type(run(shell, "import numpy\nfrom numpy import ones\nones(2)")) is np.ndarray
    assert type(run(shell, "import module_of_a_notebook as m\nm.made()")) is np.ndarray
    found = run(shell, "import scipy.ndimage as nd\na = np.arange(5.0)\nnd.uniform_filter1d(a, 3)")
    assert type(found) is np.ndarray
    out = run(shell, "out = np.ones(5)\nnd.shift(a, 1, output=out, order=0)\nout")
    assert out.tolist() == [0, 0, 1, 2, 3]
    with pytest.raises(ZeroDivisionError):
        run(shell, "1 / 0")
    shell.run_line_magic("load_ext", "npcompat")
    assert len(shell.ast_transformers) == 1


def test_cells_are_as_they_are_after_unloading(shell):
    shell.run_line_magic("load_ext", "npcompat")
    shell.run_line_magic("unload_ext", "npcompat")
    assert type(run(shell, "import numpy\nnumpy.zeros(2)")) is onp.ndarray
    assert shell.ast_transformers == [] and not npx.is_np_default_dtype()


def test_functions_of_cells_run_in_other_processes(shell):
    cloudpickle = pytest.importorskip("cloudpickle")
    shell.run_line_magic("load_ext", "npcompat")
    run(shell, "import numpy as np\ndef f(x): return np.sort(x)[::-1]")
    pickled = cloudpickle.dumps(shell.user_ns["f"])
    assert b"npcompat._script.importer" in pickled
    shell.run_line_magic("unload_ext", "npcompat")
    assert type(shell.compile).__name__ == "CachingCompiler"
