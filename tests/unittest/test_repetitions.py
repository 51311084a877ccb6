"""What comes again and again is counted, as long as there are not too many kinds of it."""

from npcompat._internal.support.call_counter import Repetitions


def test_kinds_are_counted_apart():
    found = Repetitions()
    assert [found.count(kind) for kind in "abaab"] == [1, 1, 2, 3, 2]


def test_too_many_kinds_are_forgotten():
    found = Repetitions()
    for kind in range(3 * Repetitions._MOST + 1):
        assert found.count(kind) == 1 and len(found) <= Repetitions._MOST
    assert found.count(0) == 1
