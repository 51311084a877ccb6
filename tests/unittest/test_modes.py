"""Changes of modes: contexts that are entered again, decorate, and are shared by threads."""

import threading

from npcompat import autograd


def test_a_recording_context_is_entered_inside_itself_and_decorates():
    recorded = autograd.record()
    with recorded:
        with recorded:
            assert autograd.is_recording()
        assert autograd.is_recording()
    assert not autograd.is_recording()

    @autograd.record()
    def depth(n):
        assert autograd.is_recording() and autograd.is_training()
        return 1 + depth(n - 1) if n else 0

    assert depth(3) == 3
    assert not autograd.is_recording()


def test_threads_share_a_recording_context():
    recorded, both, seen = autograd.record(), threading.Barrier(2, timeout=60), []

    def enter(first):
        with recorded:
            both.wait()
            seen.append(autograd.is_recording())
            if first:
                both.wait()
        if not first:
            both.wait()
        seen.append(not autograd.is_recording())

    threads = [threading.Thread(target=enter, args=(first,)) for first in (True, False)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [True] * 4
