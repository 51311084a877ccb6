"""Deprecated functions and classes warn with the version, and what to use instead."""

import pytest

from npcompat._internal.support.deprecation import deprecated


def test_functions_and_classes_warn():
    @deprecated("0.1", "0.3", "np.add")
    def plus(a, b):
        """Add."""
        return a + b

    @deprecated("1.9", "2.1", "gluon.Block")
    class Old:
        def __init__(self, value):
            self.value = value

    with pytest.warns(DeprecationWarning, match=r"plus is deprecated since npcompat 0\.1 .* 0\.3"):
        assert plus(1, 2) == 3
    assert plus.__doc__ == "Add."
    with pytest.warns(DeprecationWarning, match="use gluon.Block"):
        assert Old(5).value == 5


def test_names_stay_for_two_minor_releases():
    with pytest.raises(ValueError, match="at least two minor releases"):
        deprecated("0.1", "0.2", "np.add")
