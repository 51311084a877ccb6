from internals import BoundedCounter

"""What comes again and again is counted, as long as there are not too many kinds of it."""


def test_kinds_are_counted_apart():
    found = BoundedCounter()
    assert [found.count(kind) for kind in "abaab"] == [1, 1, 2, 3, 2]


def test_too_many_kinds_are_forgotten():
    found = BoundedCounter()
    for kind in range(3 * BoundedCounter._MOST + 1):
        assert found.count(kind) == 1 and len(found) <= BoundedCounter._MOST
    assert found.count(0) == 1
