"""Files of arrays: NumPy reads what npcompat writes and the other way round, and nothing is left
half written.
"""

import gzip
import io
import os
import stat

import numpy as onp
import pytest
from internals import atomic_file
from oracle import assert_alike

from npcompat import np, npx

ARRAYS = {
    "float32": onp.array([[1.5, -2.0], [onp.nan, 3.0]], dtype="float32"),
    "float64": onp.arange(3.0),
    "int8": onp.array([[1], [-2]], dtype="int8"),
    "bool": onp.array([True, False]),
    "complex64": onp.array([1 + 2j], dtype="complex64"),
    "0-d": onp.array(7),
    "empty": onp.zeros((2, 0, 3)),
}
TABLE = "1 2\n3 4.5\n"


def rewound(write, *args, **options):
    """The bytes that a function writes, as an open file."""
    file = io.BytesIO()
    write(file, *args, **options)
    return io.BytesIO(file.getvalue())


@pytest.mark.parametrize("name", ARRAYS)
def test_what_is_saved_is_numpys_file(name, backend, tmp_path):
    theirs = ARRAYS[name]
    np.save(tmp_path / "a", np.array(theirs))
    onp.save(tmp_path / "b", theirs)
    assert (tmp_path / "a.npy").read_bytes() == (tmp_path / "b.npy").read_bytes()
    assert_alike(np.load(tmp_path / "b.npy"), theirs)
    assert_alike(np.load(rewound(np.save, np.array(theirs))), theirs)


def test_a_view_is_saved_as_what_it_shows(backend):
    a = np.arange(6).reshape(2, 3).T[::-1]
    assert onp.load(rewound(np.save, a)).tolist() == a.tolist()
    assert np.load(rewound(onp.save, onp.arange(6).reshape(2, 3).T)).tolist() == [
        [0, 3],
        [1, 4],
        [2, 5],
    ]


def test_dtypes_of_files_are_kept(backend):
    loaded = np.load(rewound(onp.save, onp.array([1.0, 2.0], dtype=">f8")))
    assert (
        loaded.dtype == ">f8" and loaded.tolist() == [1, 2] and loaded.astype("=f8").dtype.isnative
    )
    records = onp.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f4")])
    for host in (records, onp.array(["x"]), onp.array(["2020-01-01"], dtype="M8[D]")):
        found = np.load(rewound(onp.save, host))
        assert type(found) is np.ndarray and (found == host).all() and found.dtype == host.dtype


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_several_arrays_in_one_file(save, backend, tmp_path):
    save(tmp_path / "many", np.arange(3), [1, 2], x=np.ones(2), y=onp.arange(2.0))
    with onp.load(tmp_path / "many.npz") as theirs, np.load(tmp_path / "many.npz") as ours:
        assert (
            ours.files == theirs.files
            and set(ours) == {"arr_0", "arr_1", "x", "y"}
            and len(ours) == 4
            and "x" in ours
        )
        for name in ours:
            assert_alike(ours[name], theirs[name])
        assert (
            isinstance(ours["arr_0"], np.ndarray)
            and ours.f.x.tolist() == [1, 1]
            and repr(ours) == repr(theirs)
        )
        assert {name: a.tolist() for name, a in ours.items()}["arr_1"] == [1, 2]
        with pytest.raises(KeyError):
            ours["z"]
        with pytest.raises(AttributeError, match="z"):
            ours.f.z
    assert ours.fid is None


def test_pickles_are_loaded_only_if_that_is_allowed(tmp_path):
    objects = onp.array([{"a": 1}], dtype=object)
    np.save(tmp_path / "objects.npy", objects)
    with pytest.raises(ValueError, match="allow_pickle=False"):
        np.load(tmp_path / "objects.npy")
    assert np.load(tmp_path / "objects.npy", allow_pickle=True)[0] == {"a": 1}
    with pytest.raises(ValueError, match="allow_pickle=False"):
        np.save(tmp_path / "more.npy", objects, allow_pickle=False)
    assert not (tmp_path / "more.npy").exists()


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "a.npy"
    np.save(path, [1, 2])
    before = path.read_bytes()

    def interrupted(*args):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(atomic_file.os, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            np.save(path, [3, 4])
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["a.npy"]
    (tmp_path / "link.npy").symlink_to(path)
    np.save(tmp_path / "link.npy", [5])
    assert (tmp_path / "link.npy").is_symlink() and np.load(path).tolist() == [5]
    os.mkfifo(tmp_path / "pipe.npy")
    reader = os.open(tmp_path / "pipe.npy", os.O_RDONLY | os.O_NONBLOCK)
    np.save(tmp_path / "pipe.npy", [7])
    assert onp.load(io.BytesIO(os.read(reader, 1000))).tolist() == [7]
    os.close(reader)
    assert stat.S_ISFIFO(os.stat(tmp_path / "pipe.npy").st_mode)


def test_a_file_mapped_into_memory_is_numpys(tmp_path):
    np.save(tmp_path / "a", [1, 2])
    mapped = np.load(tmp_path / "a.npy", mmap_mode="r")
    assert isinstance(mapped, np.memmap) and np.add(mapped, 1).tolist() == [2, 3]


def test_what_is_traced_is_not_saved():
    with pytest.raises(TypeError, match="compiled"):
        npx.jit(lambda a: np.save(io.BytesIO(), a))(np.ones(2))


# --- text -----------------------------------------------------------------------------------------


def text(content):
    return io.StringIO(content)


TEXTS = {
    "loadtxt": lambda xp: xp.loadtxt(text(TABLE)),
    "loadtxt of integers": lambda xp: xp.loadtxt(["1,2", "3,4"], dtype="int32", delimiter=","),
    "loadtxt, unpacked": lambda xp: xp.loadtxt(text(TABLE), unpack=True),
    "loadtxt of some": lambda xp: xp.loadtxt(
        ["# no", "1 2 3", "4 5 6", "7 8 9"], skiprows=1, usecols=(0, 2), max_rows=2
    ),
    "loadtxt of one number": lambda xp: (xp.loadtxt(["1"]), xp.loadtxt(["1"], ndmin=2)),
    "loadtxt with converters": lambda xp: xp.loadtxt(
        ["1 x", "2 y"], converters={1: lambda s: {"x": 10, "y": 20}[s]}
    ),
    "loadtxt quoted": lambda xp: xp.loadtxt(['"1","2"'], delimiter=",", quotechar='"'),
    "loadtxt of complex numbers": lambda xp: xp.loadtxt(["1+2j"], dtype=complex),
    "genfromtxt": lambda xp: xp.genfromtxt(["1,2", "3,"], delimiter=","),
    "genfromtxt, filled": lambda xp: xp.genfromtxt(
        ["1,2", "3,N/A"], delimiter=",", missing_values="N/A", filling_values=-1
    ),
    "genfromtxt, dtype found": lambda xp: (
        xp.genfromtxt(["1 2"], dtype=None),
        xp.genfromtxt(["1.5 2.5"], dtype=None),
    ),
    "genfromtxt, unpacked": lambda xp: xp.genfromtxt(
        ["1 2", "3 4"], unpack=True, skip_header=1, ndmin=1
    ),
    "fromstring": lambda xp: (
        xp.fromstring("1, 2", sep=","),
        xp.fromstring("1 2 3", dtype=int, count=2, sep=" "),
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_texts_are_read_as_numpy_reads_them(name, backend):
    with npx.np_default_dtype():
        assert_alike(TEXTS[name](np), TEXTS[name](onp))


@pytest.mark.parametrize("lines", [["1 x"], ["1 2", "3"]])
@pytest.mark.parametrize("function", ["loadtxt", "genfromtxt"])
def test_wrong_texts_raise_what_numpy_raises(function, lines, backend):
    if (function, lines) == ("genfromtxt", ["1 x"]):
        assert onp.isnan(getattr(np, function)(lines).asnumpy()).tolist() == [False, True]
        return
    with pytest.raises(ValueError) as theirs:
        getattr(onp, function)(lines)
    with npx.np_default_dtype(), pytest.raises(ValueError) as ours:
        getattr(np, function)(lines)
    assert str(ours.value) == str(theirs.value)


def test_numbers_in_a_text_have_the_default_float(backend, tmp_path):
    for found in (
        np.loadtxt(["1"]),
        np.genfromtxt(["1"]),
        np.genfromtxt(["1.5"], dtype=None),
        np.fromstring("1", sep=" "),
    ):
        assert found.dtype == np.float32
    assert (
        np.loadtxt(["1"], dtype="float64").dtype
        == np.genfromtxt(["1"], dtype="float64").dtype
        == np.float64
    )
    (tmp_path / "text").write_text("1 2")
    onp.arange(2.0).tofile(tmp_path / "bytes")
    assert np.fromfile(tmp_path / "text", sep=" ").dtype == np.float32
    assert_alike(np.fromfile(tmp_path / "bytes"), onp.arange(2.0))
    assert_alike(np.fromfile(tmp_path / "bytes", dtype=float, count=1, offset=8), onp.array([1.0]))


def test_records_and_masked_arrays_are_numpys():
    assert np.genfromtxt(["1 x"], dtype=None, encoding="utf-8").dtype.names == ("f0", "f1")
    assert isinstance(np.genfromtxt(["1,"], delimiter=",", usemask=True), onp.ma.MaskedArray)
    assert np.loadtxt(["1 2"], dtype=[("a", int), ("b", float)])["b"].dtype == onp.float64
    assert np.fromregex(text("a1"), r"([a-z])(\d)", [("x", "U1"), ("n", int)])["n"] == 1


def test_binary_strings_are_refused():
    with pytest.raises(ValueError, match="frombuffer"):
        np.fromstring("ab")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"fmt": "%.2f", "delimiter": ","},
        {"header": "h", "footer": "f", "comments": "//"},
        {"fmt": ["%d", "%g"]},
    ],
)
def test_a_text_is_written_as_numpy_writes_it(options, backend, tmp_path):
    theirs = onp.array([[1.0, 2.5], [3.0, 1e-9]])
    np.savetxt(tmp_path / "ours", np.array(theirs).T, **options)
    onp.savetxt(tmp_path / "theirs", theirs.T, **options)
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()


def test_a_text_can_be_compressed(tmp_path):
    np.savetxt(tmp_path / "a.gz", [1, 2], fmt="%d")
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()) == b"1\n2\n"
    assert np.loadtxt(tmp_path / "a.gz", dtype=int).tolist() == [1, 2]


def write_text(path, array, fmt):
    np.savetxt(path, array, fmt=fmt)


def write_elements(path, array, fmt):
    array.tofile(path, sep=",", format=fmt)


@pytest.mark.parametrize("write", [write_text, write_elements])
@pytest.mark.parametrize("name", ["a", "a.gz", "a.bz2", "a.xz", "a.lzma"])
def test_a_bad_format_leaves_the_old_text(name, write, tmp_path):
    path, array = tmp_path / name, np.array([1.0, 2.0])
    write(path, array, "%g")
    before = path.read_bytes()
    for bad in ("%q", "%d %d %d"):
        with pytest.raises((ValueError, TypeError)):
            write(path, array, bad)
    assert path.read_bytes() == before and os.listdir(tmp_path) == [name]
    if write is write_text:
        assert onp.loadtxt(path).tolist() == [1, 2]
    with pytest.raises(FileNotFoundError, match=f"'{tmp_path}/none/{name}'"):
        write(tmp_path / "none" / name, array, "%g")
    write(os.devnull, array, "%g")
    assert not os.path.isfile(os.devnull)


@pytest.mark.parametrize("name", ["a.npz", "a.npy", "a.params"])
@pytest.mark.parametrize("dtype", ["i4,f4", "U3", "S3", "M8[s]", "m8[D]", ">i4", "g", "V4", "f2"])
def test_any_dtype_of_numpys_is_saved_and_loaded(dtype, name, tmp_path):
    array = np.array(onp.zeros(2, dtype))
    npx.save(tmp_path / name, array if name == "a.npy" else {"a": array})
    found = npx.load(tmp_path / name)
    found = found if name == "a.npy" else found["a"]
    assert found.dtype == array.dtype and found.tobytes() == array.tobytes()
