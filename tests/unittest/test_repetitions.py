"""BoundedCounter counts repetitions, of a bounded number of kinds."""

from internals import BoundedCounter


def test_kinds_are_counted_apart():
    found = BoundedCounter()
    assert [found.count(kind) for kind in "abaab"] == [1, 1, 2, 3, 2]


def test_too_many_kinds_are_forgotten():
    found = BoundedCounter()
    for kind in range(3 * BoundedCounter._MOST + 1):
        assert found.count(kind) == 1 and len(found) <= BoundedCounter._MOST
    assert found.count(0) == 1
