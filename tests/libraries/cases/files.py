"""Files, memory, and what prints."""

import numpy as onp

from .base import X, Y, case, text, values


@case("h5py", "h5py", '`file["a"] = a`, and read')
def _(of):
    import h5py

    with h5py.File("memory.h5", "w", driver="core", backing_store=False) as file:
        file["a"] = of(X)
        return file["a"][:]


@case("h5py", "h5py", "`dataset.read_direct(a)`")
def _(of):
    import h5py

    with h5py.File("memory.h5", "w", driver="core", backing_store=False) as file:
        file["a"] = X
        a = of(onp.zeros((6, 5)))
        file["a"].read_direct(a)
        return a


@case("h5py", "h5py", "`dataset[mask]`")
def _(of):
    import h5py

    with h5py.File("memory.h5", "w", driver="core", backing_store=False) as file:
        file["a"] = Y
        return file["a"][of(Y > 3)]


@case("Zarr", "zarr", "`array[:] = a`, and read")
def _(of):
    import zarr

    array = zarr.create_array(store=zarr.storage.MemoryStore(), shape=(6, 5), dtype="float64")
    array[:] = of(X)
    return array[:]


@case("safetensors", "safetensors", '`safetensors.numpy.save({"a": a})`, and read')
def _(of):
    import safetensors.numpy

    return safetensors.numpy.load(safetensors.numpy.save({"a": of(X)}))["a"]


@case("joblib", "joblib", "`joblib.hash(a)`", text)
def _(of):
    import joblib

    return joblib.hash(of(X))


@case("orjson", "orjson", "`orjson.dumps(a, option=orjson.OPT_SERIALIZE_NUMPY)`", text)
def _(of):
    import orjson

    return orjson.dumps(of(X), option=orjson.OPT_SERIALIZE_NUMPY)


@case("msgpack", "msgpack", "`msgpack.packb(memoryview(a))`", text)
def _(of):
    import msgpack

    return msgpack.packb(memoryview(of(Y)).cast("B"))


@case("cffi", "cffi", '`ffi.from_buffer("double[]", a)`, which is written')
def _(of):
    import cffi

    a = of(Y)
    cffi.FFI().from_buffer("double[]", a, require_writable=True)[0] = 7
    return a


@case("Cython", "Cython", "a typed memoryview `double[:]` that is written")
def _(of):
    from Cython.Build.Inline import cython_inline

    a = of(Y)
    double = cython_inline(
        "def double(double[:] m):\n    m[0] = 2 * m[0]\nreturn double",
        locals={},
        globals={},
        quiet=True,
    )
    double(a)
    return a


@case("tqdm", "tqdm", "`[row for row in tqdm(a)]`")
def _(of):
    import tqdm

    return [values(row) for row in tqdm.tqdm(of(X), disable=True)]


@case("rich", "rich", "`rich.pretty.pretty_repr(list(a))`", lambda s: onp.array(s.count("5")))
def _(of):
    import rich.pretty

    return rich.pretty.pretty_repr(list(of(Y)))


@case("IPython", "IPython", "`IPython.lib.pretty.pretty(a)`", text)
def _(of):
    import IPython.lib.pretty

    return IPython.lib.pretty.pretty(of(Y)).split(", dtype")[0].rstrip(")")
