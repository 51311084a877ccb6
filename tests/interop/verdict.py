"""Verdict of a run of another project's tests: what fails must be listed with its reason."""

import pytest


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
