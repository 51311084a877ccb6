"""Files of arrays: npx.save, savez and load, and the lists of MXNet, written here byte by byte."""

import struct

import ml_dtypes
import numpy as onp
import pytest

from npcompat import np, npx
from npcompat.gluon import nn

FLAGS = {
    "float32": 0,
    "float64": 1,
    "float16": 2,
    "uint8": 3,
    "int32": 4,
    "int8": 5,
    "int64": 6,
    "bool": 7,
    "int16": 8,
}
FLAGS |= {"uint16": 9, "uint32": 10, "uint64": 11, "bfloat16": 12}


def stored(array, version=2):
    """An array as MXNet writes it: 0 is the oldest form, 3 that of NumPy's semantics."""
    axes = array.ndim
    if version == 0:
        head = struct.pack(f"<I{axes}I", axes, *array.shape)
    else:
        magic = struct.pack("<I", 0xF993FAC7 + version) + (
            struct.pack("<i", 0) if version > 1 else b""
        )
        head = magic + struct.pack(f"<i{axes}q", axes, *array.shape)
    return head + struct.pack("<iii", 1, 0, FLAGS[str(array.dtype)]) + array.tobytes()


def listed(arrays, names=(), version=2):
    content = struct.pack("<QQQ", 0x112, 0, len(arrays)) + b"".join(
        [stored(a, version) for a in arrays]
    )
    return (
        content
        + struct.pack("<Q", len(names))
        + b"".join([struct.pack("<Q", len(n)) + n.encode() for n in names])
    )


# --- npx ------------------------------------------------------------------------------------------


def test_arrays_lists_and_dicts_come_back_as_they_were(tmp_path, backend):
    path = tmp_path / "x-file"
    one, two = np.arange(6).reshape(2, 3), np.zeros((0, 2), dtype="float16")
    for given in (
        one,
        np.array(2.5),
        [one, two],
        [one],
        [],
        {"a": one, "b/c": two, "": np.ones(1)},
        {},
        (one, two),
    ):
        npx.save(path, given)
        got = npx.load(path)
        wanted = list(given) if isinstance(given, tuple) else given
        assert type(got) is type(wanted) or isinstance(got, np.ndarray)
        pairs = [(got, wanted)]
        if isinstance(wanted, list | dict):
            assert len(got) == len(wanted)
            pairs = list(zip(got, wanted, strict=True))
            if isinstance(wanted, dict):
                assert list(got) == list(wanted)
                pairs = [(got[k], wanted[k]) for k in wanted]
        for a, b in pairs:
            assert a.dtype == b.dtype
            onp.testing.assert_array_equal(a.asnumpy(), b.asnumpy())


def test_dtypes_that_numpy_does_not_know(tmp_path):
    path = tmp_path / "narrow"
    narrow = np.array([1.5, -2.0], dtype="bfloat16")
    for given in (narrow, [narrow, np.ones(1)], {"n": narrow}):
        npx.save(path, given)
        got = npx.load(path)
        got = (
            got
            if isinstance(got, np.ndarray)
            else next(iter(got.values() if isinstance(got, dict) else got))
        )
        assert got.dtype == ml_dtypes.bfloat16 and got.tolist() == [1.5, -2.0]


def test_numpy_reads_what_is_saved_and_the_other_way_round(tmp_path):
    npx.save(tmp_path / "one", np.arange(3))
    assert onp.load(tmp_path / "one").tolist() == [0, 1, 2]
    npx.savez(tmp_path / "both.npz", np.ones(2), b=np.arange(2))
    with onp.load(tmp_path / "both.npz") as file:
        assert sorted(file) == ["arr_0", "b"]
    onp.savez_compressed(tmp_path / "theirs.npz", x=onp.float64([1, 2]))
    got = npx.load(tmp_path / "theirs.npz")["x"]
    assert got.dtype == "float64" and got.tolist() == [1, 2]
    with pytest.raises(ValueError, match="arr_0 is the name"):
        npx.savez(tmp_path / "x", np.ones(1), arr_0=np.ones(1))
    with pytest.raises(TypeError, match="names of arrays must be strings, got 1"):
        npx.save(tmp_path / "x", {1: np.ones(1)})
    with pytest.raises(TypeError, match="arrays of objects"):
        npx.save(tmp_path / "x", onp.array([None]))


def test_damaged_files_are_refused_by_name(tmp_path):
    path = tmp_path / "damaged"
    contents = {}
    for name, given in (("npy", np.arange(100)), ("npz", [np.arange(100)])):
        npx.save(path, given)
        contents[name] = path.read_bytes()
    for content in contents.values():
        path.write_bytes(content[:-30])
        with pytest.raises(ValueError, match=r"damaged: not a whole file of NumPy's format"):
            npx.load(path)
    path.write_bytes(b"something else altogether")
    with pytest.raises(ValueError, match="damaged: not a whole safetensors file"):
        npx.load(path)
    onp.save(path.with_suffix(".npy"), onp.array([None]))
    with pytest.raises(ValueError, match="allow_pickle=False"):
        npx.load(path.with_suffix(".npy"))


def test_an_interrupted_save_leaves_the_older_file(tmp_path, monkeypatch):
    import os

    path = tmp_path / "file"
    npx.save(path, np.arange(3))

    def fail(*args):
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="no space"):
        npx.save(path, np.arange(5))
    assert npx.load(path).tolist() == [0, 1, 2]
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


# --- MXNet's lists --------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [0, 1, 2, 3])
def test_lists_of_mxnet_are_read_in_all_forms(version, tmp_path):
    path = tmp_path / "list.params"
    arrays = [onp.arange(6, dtype="float32").reshape(2, 3), onp.ones(1, "int64")]
    arrays += [onp.array(7.0)] if version == 3 else []
    path.write_bytes(listed(arrays, version=version))
    got = npx.load(path)
    assert isinstance(got, list) and [str(a.dtype) for a in got] == [str(a.dtype) for a in arrays]
    for a, b in zip(got, arrays, strict=True):
        onp.testing.assert_array_equal(a.asnumpy(), b)
    path.write_bytes(listed(arrays[:2], ["x", "y.z"], version))
    assert list(npx.load(path)) == ["x", "y.z"]


def test_all_dtypes_of_mxnet_are_read(tmp_path):
    path = tmp_path / "list.params"
    arrays = [onp.ones(2, ml_dtypes.bfloat16 if name == "bfloat16" else name) for name in FLAGS]
    path.write_bytes(listed(arrays, list(FLAGS)))
    got = npx.load(path)
    assert {name: str(a.dtype) for name, a in got.items()} == {name: name for name in FLAGS}
    assert all(a.astype("float32").tolist() == [1, 1] for a in got.values())


def test_damaged_lists_of_mxnet_say_where(tmp_path):
    path = tmp_path / "list.params"
    whole = listed([onp.ones((2, 3), "float32")], ["weight"])
    for size, text in (
        (12, "truncated at byte 12: the beginning needs 16 bytes from byte 0 on"),
        (30, "array 0: its storage type"),
        (70, r"array 0: its elements, of shape \(2, 3\), needs 24 bytes from byte 64 on"),
        (len(whole) - 1, "name 0 needs 6 bytes"),
    ):
        path.write_bytes(whole[:size])
        with pytest.raises(ValueError, match=rf"list\.params: .*{text}"):
            npx.load(path)
    sparse = bytearray(whole)
    sparse[28] = 1
    path.write_bytes(sparse)
    with pytest.raises(NotImplementedError, match="array 0 is sparse"):
        npx.load(path)
    for position, value, text in (
        (24, 0xFF, "expected the number of axes"),
        (60, 99, "dtype number 99 is not known"),
    ):
        wrong = bytearray(whole)
        wrong[position] = value
        path.write_bytes(wrong)
        with pytest.raises(ValueError, match=text):
            npx.load(path)
    path.write_bytes(listed([onp.ones(1), onp.ones(1)], ["one"]))
    with pytest.raises(ValueError, match="2 arrays and 1 names"):
        npx.load(path)
    path.write_bytes(
        struct.pack("<QQQ", 0x112, 0, 1)
        + struct.pack("<Iii", 0xF993FAC9, 0, 0)
        + struct.pack("<Q", 0)
    )
    with pytest.raises(ValueError, match="array 0 was never given a value"):
        npx.load(path)


def test_a_block_without_parameters_has_a_file_too(tmp_path):
    nn.ELU().save_parameters(tmp_path / "p")
    nn.ELU().load_parameters(tmp_path / "p")
    assert npx.load(tmp_path / "p") == {}


@pytest.mark.parametrize("prefix", ["", "arg:"])
def test_blocks_load_files_of_mxnet_and_of_numpy(prefix, tmp_path):
    weight, bias = onp.arange(6, dtype="float32").reshape(2, 3), onp.float32([1, 2])
    path = tmp_path / "net.params"
    path.write_bytes(listed([weight, bias], [f"{prefix}0.weight", f"{prefix}0.bias"]))
    npx.savez(tmp_path / "net.npz", **{"0.weight": weight, "0.bias": bias})
    for file in (path, tmp_path / "net.npz"):
        net = nn.HybridSequential()
        net.add(nn.Dense(2))
        net.load_parameters(file)
        onp.testing.assert_array_equal(net(np.ones((1, 3))).asnumpy(), [[4, 14]])
    path.write_bytes(listed([weight]))
    with pytest.raises(ValueError, match="expected arrays with names, got 1 without"):
        net.load_parameters(path)
    path.write_bytes(listed([weight], ["other"]))
    with pytest.raises(
        ValueError,
        match=r"(?s)do not fit HybridSequential; nothing was loaded:.*other: not a parameter",
    ):
        net.load_parameters(path)
