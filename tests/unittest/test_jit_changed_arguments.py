"""Lists and dicts among the arguments of a compiled function: copies, whose changes are warned of."""

import pytest

from npcompat import np, npx
from npcompat.errors import CompileWarning


@pytest.mark.parametrize("how", ["dict", "append", "pop", "nested"])
def test_lists_and_dicts_of_the_arguments_that_are_changed_are_warned_of(how):
    def change(given, x):
        if how == "dict":
            given["a"] = given["a"] + x
        elif how == "append":
            given.append(x)
        elif how == "pop":
            given.pop()
        else:
            given[0]["b"].clear()
        return x + 1

    given = {"dict": {"a": np.ones(2)}, "nested": [{"b": [np.ones(2)]}]}.get(how, [np.ones(2)])
    compiled = npx.jit(change)
    with pytest.warns(CompileWarning, match="change changes a list or dict that it is given"):
        compiled(given, np.ones(2))


def test_arrays_within_arguments_may_be_written():
    def write(given, x):
        given = {**given, "b": x}
        given["a"] += x
        return given["b"]

    given = {"a": np.ones(2)}
    compiled = npx.jit(write)
    for _ in range(2):
        compiled(given, np.ones(2))
    assert given["a"].tolist() == [3, 3] and list(given) == ["a"]
