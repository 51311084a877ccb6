"""Arrays that other libraries write: both sides see it, or it is refused; it is never lost.

`tests/unittest/test_shared_memory.py` has the writers of Python, NumPy and SciPy.
"""

import io
from typing import Any

import numpy as onp
import pytest

from npcompat import autograd, np, npx

pytestmark = pytest.mark.filterwarnings("ignore")


# Each writer gets an array of two axes and writes 7 into its first element.


def by_numba(a):
    numba = pytest.importorskip("numba")

    @numba.njit
    def write(x):
        x[0, 0] = 7

    write(a)


def by_numba_flat(a):
    numba = pytest.importorskip("numba")

    @numba.njit
    def write(x):
        x.flat[0] = 7

    write(a)


def by_numba_nditer(a):
    numba = pytest.importorskip("numba")

    @numba.njit
    def write(x):
        for v in onp.nditer(x[:1, :1]):
            v[()] = 7

    write(a)


def by_numba_guvectorize(a):
    numba = pytest.importorskip("numba")

    @numba.guvectorize(["(f4[:], f4[:])"], "(n)->(n)", writable_args=(0,))
    def write(x, out):
        x[0] = 7
        out[0] = 0

    write(onp.asarray(a))


def by_opencv(a):
    cv2 = pytest.importorskip("cv2")
    alias = onp.asarray(a)
    if not alias.flags.c_contiguous:
        pytest.skip("OpenCV copies arrays that are not contiguous: NumPy's, too")
    cv2.rectangle(alias, (0, 0), (0, 0), 7.0, -1)


def by_h5py(a):
    h5py = pytest.importorskip("h5py")
    if not onp.asarray(a).flags.c_contiguous:
        pytest.skip("h5py reads into contiguous memory only")
    with h5py.File("memory.h5", "w", driver="core", backing_store=False) as file:
        file["a"] = onp.full(a.shape, 7, "float32")
        file["a"].read_direct(onp.asarray(a))


def by_cffi(a):
    ffi = pytest.importorskip("cffi").FFI()
    if not onp.asarray(a).flags.c_contiguous:
        pytest.skip("cffi takes contiguous memory only")
    ffi.from_buffer("float[]", a, require_writable=True)[0] = 7


def by_torch(a):
    torch = pytest.importorskip("torch")
    torch.as_tensor(a)[0, 0] = 7


def by_torch_asarray(a):
    torch = pytest.importorskip("torch")
    tensor = torch.asarray(a)
    assert tensor.dtype == torch.float32 and tuple(tensor.shape) == a.shape
    tensor[0, 0] = 7


def by_torch_dlpack(a):
    torch = pytest.importorskip("torch")
    torch.from_dlpack(a)[0, 0] = 7


def by_torch_from_numpy(a):
    torch = pytest.importorskip("torch")
    torch.from_numpy(onp.asarray(a))[0, 0] = 7


def by_numexpr(a):
    numexpr = pytest.importorskip("numexpr")
    numexpr.evaluate("x + 7", local_dict={"x": onp.zeros(a.shape, "float32")}, out=onp.asarray(a))


def by_bottleneck(a):
    bottleneck = pytest.importorskip("bottleneck")
    bottleneck.replace(onp.asarray(a), 0, 7)


def by_pandas(a):
    pandas = pytest.importorskip("pandas")
    pandas.DataFrame(onp.asarray(a), copy=False).iloc[0, 0] = 7


def by_xarray(a):
    xarray = pytest.importorskip("xarray")
    xarray.DataArray(onp.asarray(a))[0, 0] = 7


def by_astropy(a):
    units = pytest.importorskip("astropy.units")
    units.Quantity(onp.asarray(a), units.m, copy=False)[0, 0] = 7 * units.m


def by_sklearn(a):
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    preprocessing.FunctionTransformer(
        lambda x: onp.add(x, 7, out=x), check_inverse=False
    ).transform(onp.asarray(a))


def by_scipy_blas(a):
    linalg = pytest.importorskip("scipy.linalg.blas")
    alias = onp.asarray(a).T
    if not alias.flags.f_contiguous:
        pytest.skip("BLAS copies what does not lie in Fortran's order: NumPy's, too")
    n, m = alias.shape
    linalg.sger(7.0, onp.ones(n, "f4"), onp.ones(m, "f4"), a=alias, overwrite_a=True)


def by_soundfile(a):
    soundfile = pytest.importorskip("soundfile")
    file = io.BytesIO()
    soundfile.write(file, onp.full(a.shape, 7, "float32"), 8000, format="WAV", subtype="FLOAT")
    file.seek(0)
    if not onp.asarray(a).flags.c_contiguous:
        pytest.skip("SoundFile reads into contiguous memory only")
    soundfile.read(file, out=onp.asarray(a), dtype="float32")


WRITERS = [value for name, value in list(globals().items()) if name.startswith("by_")]


def whole():
    a = np.zeros((2, 3))
    return a, a


def view():
    a = np.zeros((4, 3))
    return a, a[1:3]


def view_of_view():
    a = np.zeros((2, 3, 2))
    return a, a.transpose(2, 0, 1)[1].T.T[:, :]


@pytest.mark.parametrize("source", [whole, view, view_of_view])
@pytest.mark.parametrize("writer", WRITERS)
def test_what_others_write_is_seen(writer, source):
    with npx.backend("numpy"):
        root, a = source()
        writer(a)
        assert a[0, 0] == 7 and (root == 7).any()
        a[0, 0] = 8
        assert (root == 8).any()


@pytest.mark.parametrize("writer", WRITERS)
def test_a_program_sees_what_others_write(writer):
    a = np.zeros((2, 3))
    alias = onp.asarray(a)

    @npx.jit
    def doubled():
        return a * 2

    assert doubled().sum() == 0
    writer(alias)
    assert doubled()[0, 0] == 14 and a[0, 0] == 7


IGNORES_READONLY = {
    by_torch,
    by_torch_asarray,
    by_torch_dlpack,
    by_torch_from_numpy,
    by_bottleneck,
    by_scipy_blas,
    by_soundfile,
}
"""Writers that write NumPy's read-only arrays, too; torch warns, the others say nothing."""


def refused(writer: Any, a: Any) -> None:
    """Check that a write raises and leaves the array, or is seen where no flag can stop it."""
    if writer in IGNORES_READONLY:
        numpys = onp.zeros((2, 3), "float32")
        numpys.flags.writeable = False
        writer(numpys)
        assert numpys[0, 0] == 7
        writer(a)
        assert a.asnumpy()[0, 0] == 7
    else:
        with pytest.raises(Exception) as raised:
            writer(a)
        assert not isinstance(raised.value, AssertionError)
        assert not a.asnumpy().any()


@pytest.mark.parametrize("writer", WRITERS)
def test_writes_into_recorded_arrays_are_refused(writer):
    x = np.zeros((2, 3))
    x.attach_grad()
    with autograd.record():
        refused(writer, x + 0)


@pytest.mark.parametrize("writer", WRITERS)
def test_writes_into_arrays_on_xla_are_refused(writer):
    with npx.backend("jax"):
        a = np.zeros((2, 3))
    refused(writer, a)


def test_numba_copies_what_it_takes_for_writable():
    numba = pytest.importorskip("numba")

    @numba.njit
    def total(x):
        rows, columns = onp.ascontiguousarray(x), onp.asfortranarray(x.T)
        rows[0], columns[0] = 7, 7
        found = x.flat[0]
        for v in onp.nditer(x):
            found += v.item()
        return found

    with npx.backend("jax"):
        a = np.ones((2, 3))
    assert total(a) == 7 and a.asnumpy().sum() == 6
