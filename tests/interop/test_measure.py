"""Measurement of NumPy's own suite: its counts, and its log of a run."""

import json
from collections import Counter

import numpy as onp
import pytest

from tests.interop import measure
from tests.interop.measure import REFERENCE, Suite, Tally, causes, numpys_files, table_of, tally
from tests.interop.plugin import spread

F = "numpy/lib/tests/test_x.py"


def cases(outcome_of, *names):
    return {f"{F}::{name}": outcome_of for name in names}


def test_a_parametrised_function_counts_by_the_share_of_its_cases():
    reference = cases("passed", "test_a", "test_b[0]", "test_b[1]", "test_b[a-[2]]", "T::test_b")
    found = cases("passed", "test_a", "test_b[a-[2]]") | cases(
        "failed", "test_b[0]", "T::test_b"
    )  # test_b[1] was not reached
    assert tally(reference, found) == Tally(functions=3, passed=1 + 1 / 3)


def test_only_what_numpy_passes_is_counted():
    reference = (
        cases("passed", "test_a[0]")
        | cases("failed", "test_a[1]", "test_b")
        | cases("skipped", "test_c")
        | cases("xpassed", "test_d")
    )
    assert tally(reference, cases("passed", "test_a[0]", "test_b", "test_c", "test_d")) == Tally(
        functions=1, passed=1
    )
    assert tally(cases("passed", "test_a"), cases("skipped", "test_a")).rate == 0


def test_classes_made_for_each_cpu_are_cases():
    reference = cases(
        "passed",
        "Test_SIMD_FP32_128_baseline_f32::test_a",
        "Test_SIMD_FP32_512_X86_V4_f32::test_a",
        "TestX_1_a::test_a",
    )
    assert tally(reference, cases("passed", "Test_SIMD_FP32_512_X86_V4_f32::test_a")) == Tally(
        functions=2, passed=0.5
    )


def test_of_many_cases_some_stand_for_all():
    names = [f"{F}::test_a[{i}]" for i in range(10, 90)] + [f"{F}::test_b"]
    assert spread(names, None) == set(names)
    assert (
        spread(names, 4)
        == {f"{F}::test_a[{i}]" for i in (10, 30, 50, 70)} | {f"{F}::test_b"}
        == spread(names[::-1], 4)
    )
    reference = dict.fromkeys(names, "passed")
    found = cases("passed", "test_a[10]", "test_a[30]", "test_b") | cases(
        "failed", "test_a[50]", "test_a[70]"
    )
    assert tally(reference, found, most=4) == Tally(functions=2, passed=1.5)


def test_a_function_is_excluded_with_its_last_case():
    reference = cases("passed", "test_a[0]", "test_a[1]", "test_b", "test_c")
    rules = [("slow", f"{F}::test_a[[]0]"), ("private", f"{F}::test_[bd]")]
    found = tally(reference, cases("passed", "test_a[1]"), rules)
    assert found == Tally(functions=3, excluded={"private": 1}, passed=1)
    assert (found.in_scope, found.rate, found.share_excluded) == (2, 0.5, 1 / 3)


def test_totals():
    total = (
        Tally(4, Counter(slow=1), 1.5)
        + Tally(2, Counter(slow=1, private=1), 0)
        + Tally(3, passed=3)
    )
    assert total == Tally(9, Counter(slow=2, private=1), 4.5)
    assert total.rate == 0.75
    assert Tally().rate == 1 and Tally().share_excluded == 0


def test_the_table_has_a_row_for_each_file_and_the_totals():
    table = table_of(
        {F: {"numpy": Tally(4, Counter(slow=2), 1), "jax": Tally(4, Counter(slow=2), 2)}},
        ["jax", "numpy"],
    )
    columns = {column.header: list(column.cells) for column in table.columns}
    assert columns["file"] == ["lib/tests/test_x.py", "total on jax", "total on numpy"]
    assert columns["by rule"][0] == "slow 2"
    assert columns["jax passes"] == ["100.0%", "100.00% of 92%", ""]
    assert columns["numpy passes"] == ["50.0%", "", "50.00% of 97%"]
    assert columns["excluded"][1] == "2 (50.0% of at most 20%)"


@pytest.fixture
def kept(tmp_path, monkeypatch):
    monkeypatch.setattr(measure, "LOGS", tmp_path)

    def keep(suite, *lines, numpy=onp.__version__):
        suite.log.parent.mkdir(parents=True, exist_ok=True)
        suite.log.write_text(
            "".join(f"{json.dumps(line)}\n" for line in ({"numpy": numpy}, *lines))
        )
        return suite

    return keep


def test_a_run_is_done_when_it_says_how_it_ended(kept):
    case = {"test": f"{F}::test_a", "outcome": "passed"}
    assert Suite(F, "jax").ended is None
    assert kept(Suite(F, "jax"), case).ended is None
    assert kept(Suite(F, "jax"), case, {"ended": "exit status 0"}).ended == "exit status 0"
    assert Suite(F, "jax").outcomes() == cases("passed", "test_a")
    assert kept(Suite(F, "jax"), case, {"ended": "exit status 0"}, numpy="1.0").ended is None
    assert Suite(F, "jax").most is None


def test_an_error_after_a_test_passed_is_a_failure(kept):
    lines = [{"test": f"{F}::test_a", "outcome": outcome} for outcome in ("passed", "failed")]
    assert kept(Suite(F, "jax"), *lines).outcomes() == cases("failed", "test_a")


def test_causes_are_counted_by_function(kept):
    kept(
        Suite(F, REFERENCE),
        *[
            {"test": t, "outcome": "passed"}
            for t in cases("", "test_a[0]", "test_a[1]", "test_b", "test_c")
        ],
    )
    lines = [
        {"test": t, "outcome": "failed", "message": "TypeError: no"}
        for t in cases("", "test_a[0]", "test_a[1]", "test_b", "test_d")
    ]
    suite = kept(
        Suite(F, "numpy"), *lines, {"test": f"{F}::test_c", "outcome": "failed", "message": "slow"}
    )
    assert causes([suite], [("slow", f"{F}::test_c")]) == [
        ("TypeError: no", {f"{F}::test_a", f"{F}::test_b"})
    ]


@pytest.mark.usefixtures("kept")
def test_a_run_records_what_each_test_does():
    suite = Suite(
        "numpy/linalg/tests/test_deprecations.py", REFERENCE
    )  # on NumPy itself, and quick
    suite.run(minutes=2)
    assert suite.ended == "exit status 0" and suite.most is None
    assert set(suite.outcomes().values()) == {"passed"}
    suite.run(minutes=2, most=1)
    assert suite.ended == "exit status 0" and suite.most == 1
    assert set(suite.outcomes().values()) == {"passed"}


@pytest.mark.usefixtures("kept")
def test_a_run_that_takes_too_long_is_stopped():
    suite = Suite("numpy/linalg/tests/test_deprecations.py", REFERENCE)
    suite.run(minutes=0)
    assert suite.ended == "stopped after 0 minutes"
    assert suite.outcomes() == {}


def test_all_of_numpys_parts_are_measured():
    files = numpys_files()
    assert {file.split("/")[1] for file in files} == set(measure.PARTS)
    assert "numpy/_core/tests/test_multiarray.py" in files
