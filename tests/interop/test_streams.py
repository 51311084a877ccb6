"""Search for tests that compare draws with recorded numbers."""

import ast

import pytest

from tests.interop.plugin import matches
from tests.interop.streams import Comparisons, cases_by_function

SOURCE = """
def f():
    assert 1 == 2
    for x in [1]:
        assert_equal(x, 2)
    return "end"
"""


def assert_equal(x, y):
    assert x == y


def compiled(comparisons):
    namespace = {"compared": comparisons, "assert_equal": assert_equal}
    exec(compile(comparisons.rewritten(ast.parse(SOURCE)), "source", "exec"), namespace)
    return namespace["f"]


def test_assertions_that_fail_are_noted_and_ignored():
    comparisons = Comparisons()
    assert compiled(comparisons)() == "end" and [line for _, line in comparisons.failed] == [3, 5]
    first = comparisons.failed[0]
    assert first[0] == "test_assertions_that_fail_are_noted_and_ignored"
    others = Comparisons(left_out=[first])
    with pytest.raises(AssertionError):
        compiled(others)()
    assert [line for _, line in others.failed] == [3, 5]


def test_patterns_are_of_the_tests_and_of_no_others():
    tests = {"A::f", "A::f_more[1]", "A::f_more[2]", "g[x-1]", "g[x-2]"}
    assert cases_by_function({"A::f", "A::f_more[1]", "A::f_more[2]", "g[x-1]"}, tests) == [
        "A::f",
        "A::f_more[[]*",
        "g?x-1?",
    ]
    patterns = cases_by_function({"A::f_more[1]", "A::f_more[2]"}, tests)
    assert {test for test in tests if any(matches(test, pattern) for pattern in patterns)} == {
        "A::f_more[1]",
        "A::f_more[2]",
    }
