"""Owners of memory, as `base` and `flags` tell them."""

import numpy as onp

from npcompat import np


def test_arrays_over_memory_of_others_name_its_owner():
    memory = bytearray(16)
    a = np.ndarray(2, "float64", buffer=memory)
    assert a.base is memory and not a.flags.owndata and a[:1].base is a
    assert type(np.frombuffer(memory).base) is memoryview
    own = np.zeros(2)
    onp.asarray(own), memoryview(own)
    assert own.base is None and own.flags.owndata


def test_text_of_flags_is_numpys():
    assert str(np.zeros(2).flags) == str(onp.zeros(2).flags)
