"""The pytest plugin that holds NumPy's own tests to what they are known to do on npcompat.

`exclusions.toml` lists what is not run, with reasons; `failing.txt` what fails: these tests are
expected to fail, and one that passes must be struck from the list; `failing_since.toml` how newer
versions of NumPy differ from that list; `pass_counts.toml` how many pass, which may only rise (with
the version of NumPy that it names: others have other tests). The counts are printed at the end of
the run. `slow.txt` lists what takes longest: it is run by `python -m tests.interop`, not with all
the other tests. `python -m tests.interop --update` rewrites `failing.txt` and `pass_counts.toml`.
"""

import json
import re
import tomllib
from collections import Counter, defaultdict
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as onp
import pytest

from npcompat import npx
from tests.interop.rewriting import placed

HERE = Path(__file__).parent
EXCLUSIONS, FAILING, PASS_COUNTS = (
    HERE / "exclusions.toml",
    HERE / "failing.txt",
    HERE / "pass_counts.toml",
)
FAILING_SINCE = HERE / "failing_since.toml"
SLOW = HERE / "slow.txt"
SECONDS_PER_TEST = 600  # the slowest take one or two minutes
NUMPYS_MARKERS = (
    "slow",
    "slow_pypy",
    "thread_unsafe",
    "valgrind_error",
    "leaks_references",
    "parallel_threads",
    "iterations",
)
MADE_FOR_A_CPU = re.compile(r"(::Test_SIMD_[A-Z0-9]+?)_\d+_\w+(?=::)")
RUN = pytest.StashKey["Run"]()


# --- the lists ------------------------------------------------------------------------------------


def exclusion_rules():
    """(rule, pattern) for each pattern of `file::test` that is not run."""
    groups = tomllib.loads(EXCLUSIONS.read_text())
    return [
        (rule, f"{file}::{test}")
        for rule, group in groups.items()
        for file, tests in group["tests"].items()
        for test in tests
    ]


def matches(test, pattern):
    """Return True if a pattern excludes a test, given as "file::test"."""
    return fnmatchcase(test, pattern)


def function_of(test):
    """The test function of a case.

    The classes that `test_simd.py` makes of each of its own for every type and set of instructions,
    as many as the CPU has, are cases, too.
    """
    return MADE_FOR_A_CPU.sub(r"\1", test.split("[", 1)[0])


def spread(tests, most):
    """Of each function so many cases at most, in even distances; all of them if that is None."""
    cases = defaultdict(list)
    for test in tests if most is None else sorted(tests):
        cases[function_of(test)].append(test)
    chosen = [
        found
        if most is None or len(found) <= most
        else [found[i * len(found) // most] for i in range(most)]
        for found in cases.values()
    ]
    return {test for found in chosen for test in found}


def failing():
    """The tests that are known to fail, as "backend file::test".

    Those of newer versions of NumPy than the lists were made with are listed by reason, without the
    cases; those that pass there, too.
    """
    known = set(FAILING.read_text().splitlines())
    for version, since in tomllib.loads(FAILING_SINCE.read_text()).items():
        if onp.lib.NumpyVersion(onp.__version__) >= f"{version}.0":
            known.difference_update(since["passing"])
            known.update(*since["failing"].values())
    return known


def slow():
    """The tests that take longest, as "backend file::test"."""
    return set(SLOW.read_text().splitlines())


def pass_counts():
    """Return the recorded number of passing tests, by "backend file"."""
    recorded = tomllib.loads(PASS_COUNTS.read_text())
    return {
        f"{backend} {file}": count
        for file, counts in recorded["passed"].items()
        for backend, count in counts.items()
    }


def recorded_numpy():
    """The NumPy version that the lists were made with."""
    return tomllib.loads(PASS_COUNTS.read_text())["numpy"]


def write_lists(run):
    """Replace what the lists say about the files that were run."""
    recorded = set(FAILING.read_text().splitlines())
    kept = {line for line in recorded if line.split("::")[0] not in run.outcomes}
    FAILING.write_text("".join(f"{line}\n" for line in sorted(kept | run.failed)))
    counts = {
        **pass_counts(),
        **{suite: outcomes["passed"] for suite, outcomes in run.outcomes.items()},
    }
    by_file = defaultdict(dict)
    for suite, count in sorted(counts.items()):
        backend, file = suite.split()
        by_file[file][backend] = count
    lines = [
        f'"{file}" = {{ {", ".join(f"{b} = {n}" for b, n in found.items())} }}'
        for file, found in sorted(by_file.items())
    ]
    PASS_COUNTS.write_text(
        f'numpy = "{onp.__version__}"\n\n[passed]\n' + "".join(f"{line}\n" for line in lines)
    )


# --- collecting -----------------------------------------------------------------------------------


def pytest_addoption(parser):
    """The option behind `python -m tests.interop --update`."""
    parser.addoption(
        "--update-interop",
        action="store_true",
        help="rewrite the lists of failing tests and the pass counts of tests/interop",
    )
    parser.addoption(
        "--interop-cases",
        metavar="N",
        type=int,
        help="of each of NumPy's test functions run at most N cases, spread evenly",
    )
    parser.addoption("--interop-slow", action="store_true", help="run NumPy's slowest tests, too")
    parser.addoption(
        "--interop-only",
        metavar="TESTS",
        type=json.loads,
        help="run these of NumPy's tests (a list in JSON), also what is excluded",
    )
    parser.addoption(
        "--interop-record",
        metavar="FILE",
        help="append the outcome of each of NumPy's tests to a file, a line of JSON each",
    )


def _name(item, file):
    return f"{file}::{item.nodeid.split('::', 1)[1]}"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Leave out what is excluded or not asked for, and mark what is known to fail."""
    patterns, known = [pattern for _, pattern in exclusion_rules()], failing()
    only = config.getoption("interop_only")
    recording, most = (
        config.getoption("interop_record") is not None,
        config.getoption("interop_cases"),
    )
    later = set() if recording or config.getoption("interop_slow") else slow()
    files = [getattr(getattr(item, "module", None), "NUMPYS_FILE", None) for item in items]
    chosen = spread(
        [_name(item, file) for item, file in zip(items, files, strict=True) if file is not None],
        most,
    )
    kept, excluded = [], []
    for item, file in zip(items, files, strict=True):
        if file is None:
            kept.append(item)
            continue
        test = _name(item, file)
        name = f"{item.module.BACKEND} {test}"
        if (
            test not in chosen
            or name in later
            or (only is not None and test.split("::", 1)[1] not in only)
            or (
                only is None
                and item.module.BACKEND != "reference"
                and any(matches(test, pattern) for pattern in patterns)
            )
        ):
            excluded.append(item)
            continue
        kept.append(item)
        item.user_properties.append(("numpys_test", name))
        item.fixturenames.insert(0, "numpys_semantics")
        if not recording:
            item.add_marker(pytest.mark.timeout(SECONDS_PER_TEST))
        item.add_marker(pytest.mark.filterwarnings("error"), append=False)
        item.add_marker(
            pytest.mark.filterwarnings(
                "ignore:the matrix subclass is not:PendingDeprecationWarning"
            )
        )  # as NumPy's pytest.ini
        item.add_marker(
            pytest.mark.filterwarnings("ignore::pytest.PytestRemovedIn10Warning")
        )  # how its fixtures are written
        if name in known and not config.getoption("update_interop") and not recording:
            item.add_marker(
                pytest.mark.xfail(
                    strict=True, reason="passes now: remove it from tests/interop/failing.txt"
                )
            )
    if excluded:
        config.hook.pytest_deselected(items=excluded)
        items[:] = kept


@pytest.fixture
def numpys_semantics(request):
    """Run one of NumPy's tests with NumPy's dtypes, on the backend of its module."""
    with npx.np_default_dtype(), placed(request.module.BACKEND):
        yield


# --- counting -------------------------------------------------------------------------------------


class Run:
    """The outcomes of a run, by suite ("backend file")."""

    def __init__(self):
        self.outcomes = defaultdict(Counter)
        self.failed = set()

    def add(self, report):
        """Count a report, if it is of one of NumPy's tests."""
        name = dict(report.user_properties).get("numpys_test")
        if name is None or (report.when != "call" and report.outcome == "passed"):
            return
        outcome = "listed as failing" if hasattr(report, "wasxfail") else report.outcome
        self.outcomes[name.split("::")[0]][outcome] += 1
        if outcome == "failed":
            self.failed.add(name)


def pytest_configure(config):
    """Begin to count; make NumPy's own markers known."""
    for marker in NUMPYS_MARKERS:
        config.addinivalue_line("markers", f"{marker}: a mark of NumPy's tests")
    config.stash[RUN] = Run()
    config.pluginmanager.register(_Counting(config.stash[RUN]))
    record = config.getoption("interop_record")
    if record is not None:
        config.pluginmanager.register(_Recording(record))


class _Counting:
    def __init__(self, run):
        self.run = run

    def pytest_runtest_logreport(self, report):
        self.run.add(report)


class _Recording:
    """Writes each outcome to a file at once, so that a crash loses nothing that came before."""

    def __init__(self, path):
        self.path = path

    def pytest_runtest_logreport(self, report):
        name = dict(report.user_properties).get("numpys_test")
        if name is None or (report.when != "call" and report.outcome == "passed"):
            return
        record = {
            "test": name.split(" ", 1)[1],
            "outcome": f"x{report.outcome}" if hasattr(report, "wasxfail") else report.outcome,
        }
        if report.failed:
            message = getattr(
                getattr(report.longrepr, "reprcrash", None), "message", str(report.longrepr)
            )
            record["message"] = " ".join(message.split())[:200]
        with Path(self.path).open("a") as file:
            file.write(json.dumps(record) + "\n")


def _whole(config):
    """Return True if no option selects among the tests of the files."""
    options = config.option
    chosen = (
        options.interop_record
        or options.interop_cases
        or options.keyword
        or options.markexpr
        or getattr(options, "lf", False)
        or options.deselect
    )
    return not chosen and not any("::" in argument for argument in config.args)


def _fallen(config):
    recorded, run = pass_counts(), config.stash[RUN]
    left_out = (
        Counter()
        if config.getoption("interop_slow")
        else Counter(test.split("::")[0] for test in slow())
    )
    fewer = [
        s
        for s, outcomes in run.outcomes.items()
        if outcomes["passed"] < recorded.get(s, 0) - left_out[s]
    ]
    return fewer if _whole(config) and onp.__version__ == recorded_numpy() else []


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session, exitstatus):
    """Fail if a pass count has fallen; on request, rewrite the lists."""
    config = session.config
    if hasattr(config, "workerinput") or exitstatus not in (
        pytest.ExitCode.OK,
        pytest.ExitCode.TESTS_FAILED,
    ):
        return
    if config.getoption("update_interop"):
        write_lists(config.stash[RUN])
        session.exitstatus = pytest.ExitCode.OK
    elif _fallen(config):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter, config):
    """Print the counts."""
    run, recorded, fallen = config.stash[RUN], pass_counts(), _fallen(config)
    if run.outcomes:
        terminalreporter.section("NumPy's own tests on npcompat")
    for suite, outcomes in sorted(run.outcomes.items(), key=lambda pair: pair[0].split()[::-1]):
        backend, file = suite.split()
        counts = ", ".join(
            f"{count} {outcome}" for outcome, count in sorted(outcomes.items(), reverse=True)
        )
        note = (
            f"; FEWER PASS than the {recorded[suite]} recorded in pass_counts.toml"
            if suite in fallen
            else ""
        )
        terminalreporter.line(f"{file} on {backend}: {counts}{note}")
