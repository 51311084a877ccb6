"""Check of compiled functions: a value that changes between calls is seen by the next one."""

from npcompat import np, npx

X = np.ones(1)


def check_that_a_change_is_seen(function, change):
    """Compile a function that returns its argument, and five times that after the change."""
    compiled = npx.jit(function)
    assert [float(compiled(X)[0]) for _ in range(2)] == [1, 1]
    with npx.compile_log() as log:
        compiled(X)
    assert not log
    change()
    assert [float(compiled(X)[0]) for _ in range(2)] == [5, 5]
