"""Random functions whose arrays have several names: compiled as NumPy's, or refused."""

import linecache
from collections import namedtuple

import numpy as onp
import pytest
from internals import TracedValueError
from random_aliases import Aliases

from npcompat import np, npx

pytestmark = pytest.mark.usefixtures("numpy_mode")
Pair = namedtuple("Pair", "one other")


def made(seed):
    text, name = Aliases(seed).text, f"<random aliases {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    exec(compile(text, name, "exec"), space := {"Pair": Pair})
    return space["f"]


def compare(seed):
    """Return True if the function was compiled, not refused."""
    function = made(seed)
    compiled = npx.jit(function)
    for i in (0, 2, 4):
        theirs, ours = onp.arange(1.0, 4.0), np.arange(1.0, 4.0)
        with onp.errstate(all="ignore"):
            expected = function(theirs, i)
        try:
            found = compiled(ours, np.array(i))
        except TracedValueError:
            return False
        for one, other in zip([*found, ours], [*expected, theirs], strict=True):
            onp.testing.assert_allclose(one.asnumpy(), other, rtol=1e-9, err_msg=f"{seed} {i}")
    return True


def test_random_functions_are_as_numpys_or_refused():
    assert sum(map(compare, range(60))) > 10


@pytest.mark.slow
def test_many_random_functions_are_as_numpys_or_refused():
    assert sum(map(compare, range(60, 2000))) > 300
