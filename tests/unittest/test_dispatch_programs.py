"""Programs of eager calls: how many are compiled, and for what."""

import subprocess
import sys

import numpy as onp
import pytest

from npcompat import np, npx

PLACEMENT = "jax"


def test_the_same_call_compiles_once():
    a = np.ones((3, 7))
    calls = [
        lambda: a + a,
        lambda: a + 1.5,
        lambda: a + 2.5,
        lambda: a.sum(axis=0),
        lambda: a.T,
        lambda: np.exp(a),
        lambda: a[1],
        lambda: a[a > 0],
        lambda: np.zeros((3, 7)),
        lambda: a.reshape(7, 3),
    ]
    for call in calls:
        call()
        with npx.compile_log() as log:
            for _ in range(3):
                call()
        assert log == []


def test_the_host_compiles_nothing():
    with npx.backend("numpy"), npx.compile_log() as log:
        a = np.arange(6.0).reshape(2, 3)
        for i in range(1, 3):
            b = (a[:i] @ a[:i].T + np.sin(a[:i]).sum()) * 2
            b[b > 1] = 0
            b[0, 0] += a.mean()
            np.concatenate([b, b])
    assert log == [] and isinstance(b._value.payload, onp.ndarray)


def test_the_backend_follows_from_the_payloads():
    with npx.backend("numpy"):
        host = np.arange(3.0)
    device = np.arange(3.0)
    assert isinstance((host + 1)._value.payload, onp.ndarray)
    assert not isinstance((device + 1)._value.payload, onp.ndarray)
    assert not isinstance((host + device)._value.payload, onp.ndarray)
    assert (host + device).tolist() == [0, 2, 4]
    host += device
    host[1:] = device[:2]
    device[0] = host[2]
    assert host.tolist() == [0, 0, 1] and device.tolist() == [1, 1, 2]
    assert host.device == device.device == npx.cpu(0)


def on_host(array):
    return isinstance(array._value.payload, onp.ndarray)


def test_auto_works_on_the_host_and_sends_to_xla_what_is_faster_there():
    with npx.backend("auto"), npx.compile_log() as log:
        a = np.arange(16.0).reshape(1, 1, 4, 4) + np.ones((4, 4))
        b = (a[0, 0] @ a[0, 0]).sum(axis=0)
    assert on_host(b) and log == []
    with npx.backend("auto"):
        assert (
            on_host(np.random.normal(size=3))
            and on_host(np.random.permutation(3))
            and on_host(np.array([1, 2]))
        )
        kernel = np.ones((1, 1, 2, 2))
        c = npx.convolution(a, kernel, kernel=(2, 2), num_filter=1, no_bias=True)
        assert not on_host(c) and not on_host(c + 1) and on_host(kernel) and on_host(a)
        onp.testing.assert_array_equal(c.asnumpy()[0, 0, 0, 0], a.asnumpy()[0, 0, :2, :2].sum())
        c += b[:3]  # the operands of a call need not be in one place
        c[0, 0, 1:] = b[:3]
        assert not on_host(c) and c[0, 0, 1].tolist() == b[:3].tolist()
        a[...] = c.sum()
        assert on_host(a)


def test_auto_keeps_on_xla_what_compiled_functions_hold():
    with npx.backend("auto"):
        total, seen = np.zeros(2), np.zeros(2)
        view = total[1:]

        @npx.jit
        def add(x):
            nonlocal seen
            total[...] += x
            seen[...] = total
            return total.sum()

        x = np.ones(2)
        assert [float(add(x)) for _ in range(3)] == [2, 4, 6]
        assert on_host(x) and not on_host(total) and not on_host(seen)
        assert view.tolist() == [3] and total.tolist() == [3, 3] and seen.tolist() == [3, 3]
        view += 1
        assert float(add(x)) == 9 and view.tolist() == [5]
        total[...] = onp.zeros(2)
        assert float(add(x)) == 2


def test_auto_shares_nothing_with_what_was_sent_or_taken():
    with npx.backend("auto"):
        host, scale = np.arange(4.0), npx.jit(lambda x: x * 1)
        before = scale(host)
        host[:] = 7
        assert before.tolist() == [0, 1, 2, 3]
        kept = host.asnumpy()
        host[0] = 1
        assert kept[0] == 7 and (scale(host) + host).tolist() == [2, 14, 14, 14]


def test_backends_are_refused_by_name():
    with pytest.raises(ValueError, match=r"backend: expected one of auto, jax, numpy, .*got 'tf'"):
        npx.backend("tf")


@pytest.mark.parametrize(
    ("variables", "line", "expected"),
    [
        (
            {"NPCOMPAT_BACKEND": "numpy"},
            "print(npx.current_backend(), type(np.ones(1)._value.payload).__module__)",
            "numpy numpy",
        ),
        (
            {},
            "print(npx.current_backend(), type(np.ones(1)._value.payload).__module__)",
            "auto numpy",
        ),
        (
            {"NPCOMPAT_BACKEND": "jax"},
            "print(npx.current_backend(), type(np.ones(1)._value.payload).__module__)",
            "jax jaxlib",
        ),
        (
            {"NPCOMPAT_BACKEND": "auto"},
            "print(npx.current_backend(), type(np.ones(1)._value.payload).__module__)",
            "auto numpy",
        ),
        ({"NPCOMPAT_DEFAULT_DTYPE": "numpy"}, "print(np.ones(1).dtype)", "float64"),
        ({"NPCOMPAT_BACKEND": "x"}, "", "NPCOMPAT_BACKEND='x': expected one of auto, jax, numpy"),
        (
            {"NPCOMPAT_DEFAULT_DTYPE": "x"},
            "",
            "NPCOMPAT_DEFAULT_DTYPE='x': expected float32 or numpy",
        ),
    ],
)
def test_environment_variables_choose_policies(variables, line, expected):
    import os

    done = subprocess.run(
        [sys.executable, "-c", f"from npcompat import np, npx\n{line}"],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert expected in done.stdout + done.stderr
