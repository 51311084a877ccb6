"""Reports of benchmarks: ratios of rounds, tables with means, changes since an older run."""

import json

import numpy as onp
import pytest

from benchmarks import calls, report
from benchmarks.timing import Timings, interleaved


def table(pairs, rows):
    made = report.Table("a title, us", pairs, ["ours", "theirs"])
    for name, (ours, theirs) in rows.items():
        made.add_times(name, Timings({"ours": ours, "theirs": theirs}))
    return made


def test_a_ratio_is_the_median_of_those_of_the_rounds():
    times = Timings({"ours": [2.0, 4.0, 30.0, 6.0, 3.0], "theirs": [1.0, 2.0, 3.0, 3.0, 1.0]})
    ratio = times.ratio("ours", "theirs")
    assert (ratio.low, ratio.median, ratio.high) == (2.0, 2.0, 3.0)
    assert times["ours"] == 2.0


def test_functions_are_timed_in_their_contexts():
    inside = []

    class Context:
        def __enter__(self):
            inside.append(True)

        def __exit__(self, *_):
            inside.pop()

    seen = {"with": set(), "without": set()}
    functions = {name: lambda name=name: seen[name].add(bool(inside)) for name in seen}
    times = interleaved(functions, 0.001, contexts={"with": Context})
    assert (
        seen == {"with": {True}, "without": {False}}
        and len(times.samples["with"]) == len(times.samples["without"]) >= 5
    )


def test_a_table_has_means_of_the_rows_that_have_both_columns(capsys):
    made = table(
        [("ours", "theirs")], {"x": ([2.0, 2.0], [1.0, 1.0]), "y": ([8.0, 8.0], [1.0, 1.0])}
    )
    made.add("z", {"ours": 1.0})
    closed = made.close(groups={"x": "small", "y": "large", "z": "large"})
    mean = closed["means"]["ours/theirs"]
    assert mean == {"mean": pytest.approx(4.0), "rows": 2, "most": 8.0, "most in": "y"}
    assert closed["groups"]["small"]["ours/theirs"]["mean"] == pytest.approx(2.0)
    assert closed["rows"]["z"] == {"figures": {"ours": 1.0}, "ratios": {}}
    printed = capsys.readouterr().out
    assert "ours/theirs: 4.00 in the mean of 2, at most 8.00 (y)" in printed


def test_changes_are_those_beyond_what_a_ratio_varied_by():
    before = table(
        [("ours", "theirs")],
        {
            "same": ([2.0, 2.1], [1.0] * 2),
            "slower": ([2.0, 2.0], [1.0] * 2),
            "gone": ([1.0], [1.0]),
        },
    )
    after = table(
        [("ours", "theirs")],
        {
            "same": ([2.1, 2.05], [1.0] * 2),
            "slower": ([3.0, 3.2], [1.0] * 2),
            "new": ([1.0], [1.0]),
        },
    )
    found = report.changes({"t": before.close()}, {"t": after.close(), "u": after.close()})
    assert found[1:] == [
        "t, slower, ours/theirs: 2.00 -> 3.10",
        "t, new: new",
        "t, gone: gone",
        "u: new",
    ]
    assert found[0].startswith("t, mean ours/theirs: ")


def test_what_is_saved_is_compared(tmp_path, capsys):
    kept = tmp_path / "old.json"
    report.save(kept, {"t": table([("ours", "theirs")], {"x": ([2.0], [1.0])}).close()})
    assert json.loads(kept.read_text())["machine"]["libraries"]["numpy"] == onp.__version__
    report.compare(kept, {"t": table([("ours", "theirs")], {"x": ([4.0], [1.0])}).close()})
    assert "t, x, ours/theirs: 2.00 -> 4.00" in capsys.readouterr().out


@pytest.mark.parametrize(
    "source", ["np.add(a, b)", "a[1:5] = b[2:6]", "a += 0.25", "np.split(a, 2)", "a.tolist()"]
)
def test_a_call_of_the_basket_gives_its_result_or_what_it_wrote(source):
    arrays = calls.operands((8, 8))
    before = arrays["a"].copy()
    result = calls.bound(source, onp, arrays, None)()
    scope = {"np": onp, "a": before, "b": arrays["b"]}
    if "= " in source:
        exec(source, scope)
        assert calls.agrees(result, scope["a"]) and result is arrays["a"]
    else:
        assert calls.agrees(result, eval(source, scope))
    assert not calls.agrees(result, onp.zeros(3))


def test_the_basket_has_sixty_calls_and_every_name_is_an_operand():
    assert len(calls.CALLS) >= 60
    assert calls.names("a[at] = 0.5") == ["a", "at"] and calls.names("np.arange(10)") == []
