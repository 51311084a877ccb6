"""Lists and tuples of recorded or traced arrays: their elements stay part of the graph.

The true gradients are finite differences of the same program, in double precision.
"""

import numpy as onp
import pytest

from npcompat import autograd, np, npx


def written(change):
    """A program that writes a list into an array."""

    def program(w):
        y = np.zeros(4) + 0 * w[0]
        change(y, w)
        return (y * np.arange(1, 5)).sum()

    return program


W = written
# fmt: off
PROGRAMS = {
 'mean': lambda w: np.mean([(w[i]-1)**2 for i in range(2)]),
 'array': lambda w: (np.array([w[0],w[1]*2])**2).sum(),
 'asarray': lambda w: (np.asarray([w[0],w[1]*2])**2).sum(),
 'nested': lambda w: (np.array([[w[0],1.],[2.,w[1]]])**2).sum(),
 'sum': lambda w: np.sum([w[0],w[1]*w[0]]),
 'max': lambda w: np.max([w[0],w[1]*w[0]]),
 'prod': lambda w: np.prod([w[0],w[1]*w[0]]),
 'mul': lambda w: (w*[w[1],1]).sum(),
 'matmul': lambda w: w@[w[1],1.],
 'rmul': lambda w: ([w[1],1]*w).sum(),  # type: ignore[attr-defined]
 'concat': lambda w: (np.concatenate([[w[0]],w])**2).sum(),
 'append': lambda w: (np.append(w,[w[0]])**2).sum(),
 'insert': lambda w: (np.insert(w,1,[w[0]])**2).sum(),
 'vstack': lambda w: (np.vstack([[w[0],1.],[1.,w[1]]])**2).sum(),
 'column_stack': lambda w: (np.column_stack([[w[0],1.],[1.,w[1]]])**2).sum(),
 'outer': lambda w: np.outer([w[0],1.],w).sum(),
 'einsum': lambda w: np.einsum('i,i->',[w[0],1.],w),
 'clip': lambda w: np.clip([w[0],w[1]],0,1.5).sum(),
 'clip2': lambda w: np.clip(np.ones(2)*9,0,[w[0],w[1]]).sum(),
 'select': lambda w: np.select([[True,False],[False,True]],[[w[0],0.],[0.,w[1]*w[1]]]).sum(),
 'norm': lambda w: np.linalg.norm([w[0],w[1]]),
 'det': lambda w: np.linalg.det([[w[0],0.],[0.,w[1]]]),
 'interp': lambda w: np.interp([0.5],[0.,1.],[w[0],w[1]]).sum(),
 'cumsum': lambda w: (np.cumsum([w[0],w[1]])**2).sum(),
 'polyval': lambda w: np.polyval([w[0],w[1]],2.),
 'fromiter': lambda w: np.fromiter((v*v for v in w),dtype='float32').sum(),
 'where': lambda w: np.where([True,False],[w[0],1.],[1.,w[1]]).sum(),
 'stack': lambda w: (np.stack([w[0],w[1]*3])**2).sum(),
 'tuple': lambda w: np.sum((w[0],w[1]*w[1])),
 'dot': lambda w: np.dot([w[0],w[1]],[w[1],1.]),
 'add_ufunc': lambda w: np.add([w[0],w[1]],[1.,w[0]]).sum(),
 'exp': lambda w: np.exp([w[0],w[1]]).sum(),
 'var': lambda w: np.var([w[0],w[1]*w[1]]),
 'sort': lambda w: (np.sort([w[1],w[0]])*np.array([1.,2.])).sum(),
 'take': lambda w: np.take([w[0],w[1]],[1,1]).sum(),
 'reshape': lambda w: (np.reshape([w[0],w[1]],(2,1))**2).sum(),
 'w1': W(lambda y,w: y.__setitem__(slice(1,3),(w[0],w[1]))),
 'w2': W(lambda y,w: y.__setitem__([0,1],[w[0],w[1]*w[1]])),
 'w3': W(lambda y,w: y.__setitem__(slice(None),[w[0],w[1],1.,2.])),
 'w4': W(lambda y,w: y.__iadd__([w[0],w[1],1.,2.])),
 'w5': W(lambda y,w: setattr(y,'flat',[w[0],w[1],1.,2.])),
 'w6': W(lambda y,w: y.flat.__setitem__(slice(0,2),[w[0],w[1]])),
 'w7': W(lambda y,w: np.put(y,[0,1],[w[0],w[1]])),
 'w8': W(lambda y,w: np.add.at(y,[0,1],[w[0],w[1]])),
 'w9': W(lambda y,w: np.copyto(y,[w[0],w[1],1.,2.])),
 'full': lambda w: (np.full((2,2),[w[0],w[1]])**2).sum(),
 'mean2d': lambda w: np.mean([[w[0],w[1]],[w[1],w[1]]],axis=0).sum(),
 'average': lambda w: np.average([w[0],w[1]],weights=[w[1],1.]),
 'npx.relu': lambda w: npx.relu([w[0],w[1]]).sum(),
 'linspace': lambda w: np.linspace(w[0],w[1],3).sum(),
 'maximum.reduce': lambda w: np.maximum.reduce([w[0],w[1]]),
 'trapezoid': lambda w: np.trapezoid([w[0],w[1],w[0]]),
 'cross': lambda w: np.cross([w[0],1.,0.],[0.,w[1],1.]).sum(),
 'kron': lambda w: np.kron([w[0],1.],[w[1],1.]).sum(),
 'tensordot': lambda w: np.tensordot([w[0],1.],[w[1],1.],1),
 'diag': lambda w: (np.diag([w[0],w[1]])**2).sum(),
 'pad': lambda w: (np.pad([w[0],w[1]],1)**2).sum(),
 'gradient': lambda w: (np.gradient([w[0],w[1],w[0]])**2).sum(),
 'diff': lambda w: (np.diff([w[0],w[1],w[0]])**2).sum(),
 'quantile': lambda w: np.quantile([w[0],w[1]],0.25),
 'median': lambda w: np.median([w[0],w[1]]),
 'piecewise':lambda w: np.piecewise(w,[[True,False],[False,True]],[lambda x:x*x,lambda x:x]).sum(),
 'random': lambda w: (np.random.normal([w[0],w[1]],[1e-9,1e-9])).sum(),
 'broadcast': lambda w: np.broadcast_to([w[0],w[1]],(2,2)).sum(),
 'tile': lambda w: np.tile([w[0],w[1]],2).sum(),
 'repeat': lambda w: np.repeat([w[0],w[1]],2).sum(),
 'convolve': lambda w: np.convolve([w[0],w[1]],[1.,w[0]]).sum(),
 'ravel': lambda w: np.ravel([[w[0]],[w[1]]]).sum(),
 'objects': lambda w: np.sum([np.array([w[0],w[1]]), w]),
}
# fmt: on


def differences(program, at=(1.0, 2.0), step=1e-4):
    found = []
    with npx.np_default_dtype(True):
        for i in range(len(at)):
            more, less = onp.array(at), onp.array(at)
            more[i] += step
            less[i] -= step
            found.append(
                (float(program(np.array(more))) - float(program(np.array(less)))) / 2 / step
            )
    return found


def gradient(program, compiled):
    w = np.array([1.0, 2.0])
    w.attach_grad()

    def step():
        with autograd.record():
            loss = program(w)
        loss.backward()

    (npx.jit(step) if compiled else step)()
    return w.grad.asnumpy()


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_of_lists_of_arrays(name, compiled):
    expected = differences(PROGRAMS[name])
    onp.testing.assert_allclose(gradient(PROGRAMS[name], compiled), expected, 2e-3, 2e-3)


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_dtypes_of_joined_lists_are_numpys(backend):
    half, wide = onp.float16(1), onp.float64(2)
    for items in ([half, 1.0], [half, 1], [wide, half], [onp.int8(3), 2], [[half], [wide]]):
        expected = onp.array(items).dtype
        with npx.backend(backend), npx.np_default_dtype(True):
            mine = _ours(items)
            x = np.ones(2)
            x.attach_grad()
            with autograd.record():
                mine = _tied(mine, x)
                found = np.array(mine)
            assert found.dtype == expected


def _ours(items):
    return [
        _ours(i) if isinstance(i, list) else np.array(i) if isinstance(i, onp.generic) else i
        for i in items
    ]


def _tied(items, x):
    """The first float tied to the graph of `x`, without another dtype or value."""
    first = items[0]
    if isinstance(first, list):
        return [_tied(first, x), *items[1:]]
    if first.dtype.kind != "f":
        return items
    return [first + (0 * x[0]).astype(first.dtype), *items[1:]]


def test_uneven_lists_raise_numpys_error():
    w = np.array([1.0, 2.0])
    w.attach_grad()
    with autograd.record(), pytest.raises(ValueError, match="inhomogeneous shape"):
        np.array([w, w[0]])
