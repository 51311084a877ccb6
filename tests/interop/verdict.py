"""Runs of another project's tests: their environment, and their verdict, by which what fails must
be listed with its reason.
"""

import importlib.util
import os
import sys
import tomllib
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parent.parent.parent


def listed(file, chosen=lambda group: True):
    """The tests that the chosen groups of a file allow to fail, with the reason of each."""
    groups = tomllib.loads(file.read_text()).get("group", [])
    return {test: group["reason"] for group in groups if chosen(group) for test in group["tests"]}


def environment(**variables):
    """The environment of a process that runs on this checkout, in NumPy's default dtypes."""
    paths = [str(CHECKOUT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return os.environ | {
        "NPCOMPAT_DEFAULT_DTYPE": "numpy",
        "PYTHONPATH": os.pathsep.join(paths),
        **variables,
    }


def package(name):
    """The directory of an installed package."""
    found = importlib.util.find_spec(name)
    if found is None:
        sys.exit(f"{name} is not installed: its tests are those of the installed package")
    return Path(found.origin).parent


def within(name):
    """Options that let pytest see a package alone: a virtual environment may lie in a checkout,
    whose conftest.py would be read, and whose npcompat be imported.
    """
    return ["--rootdir", str(package(name)), "--confcutdir", str(package(name))]


class Verdict:
    """Plugin that tells failures that are listed from those that are not."""

    def __init__(self, title, listed):
        self.title, self.listed, self.failed = title, listed, []

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.failed.append(report.nodeid)

    @property
    def unlisted(self):
        return [test for test in self.failed if test not in self.listed]

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session):
        if session.exitstatus == pytest.ExitCode.TESTS_FAILED and not self.unlisted:
            session.exitstatus = pytest.ExitCode.OK

    def pytest_terminal_summary(self, terminalreporter):
        terminalreporter.section(self.title)
        terminalreporter.line(
            f"{len(self.failed)} failed, of which {len(self.unlisted)} are not listed"
        )
        for test in self.unlisted:
            terminalreporter.line(f"  {test}")
