"""Array files, binary and text, read and written by NumPy itself.

Numbers in a binary file keep the dtype in which they are stored; those in a text are the default
float unless a dtype is given.
"""

import io
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile, ZipFile

import numpy as onp

from npcompat._internal.core import dtypes
from npcompat._internal.core.handle import Handle
from npcompat._internal.dispatch import array_like, handles
from npcompat._internal.files import npy_header
from npcompat._internal.support import atomic_file
from npcompat._internal.support.damaged_file import reading
from npcompat._internal.support.errors import DataFileError
from npcompat.numpy._host_arrays import as_numpys, given_back
from npcompat.numpy._overrides import made_like
from npcompat.numpy._typing import ArrayLike, DTypeLike
from npcompat.numpy._unbound import unbound

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray

_Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]


def _host(a: Any) -> Any:
    """Return the host array that is written for an array-like."""
    return handles.to_host(a) if isinstance(a, Handle) else array_like.host_array(a)


def _written(file: Any, suffix: str, write: Callable[[Any], None]) -> None:
    """Write to a file; one given by path is replaced when the new one is complete."""
    if not isinstance(file, str | os.PathLike):
        write(file)
        return
    name = os.fspath(file)
    content = io.BytesIO()
    write(content)
    with atomic_file.opened(name if name.endswith(suffix) else name + suffix) as target:
        target.write(content.getvalue())


# --- NumPy's format -------------------------------------------------------------------------------


class NpzFile(Mapping[str, Any]):
    """Arrays of an `.npz` file by name, each read on access.

    It is a context manager that closes the file.
    """

    def __init__(self, numpys: Any) -> None:
        self._numpys = numpys

    def __getitem__(self, key: str) -> Any:
        with _loading(self._numpys.zip.filename or "archive", KeyError):
            self._check(key)
            return given_back(self._numpys[key])

    def _check(self, key: str) -> None:
        """Raise ValueError if an entry is too short for its array, before memory is taken."""
        archive = self._numpys.zip
        name = key if key in archive.namelist() else f"{key}.npy"
        if name in archive.namelist():
            with archive.open(name) as entry:
                if entry.read(6) != onp.lib.format.MAGIC_PREFIX:
                    return
            with archive.open(name) as entry:
                shape, _, dtype = npy_header.read(
                    entry, 2**64 if self._numpys.allow_pickle else self._numpys.max_header_size
                )
                npy_header.check(shape, dtype, archive.getinfo(name).file_size)

    def __iter__(self) -> Iterator[str]:
        return iter(self._numpys)

    def __len__(self) -> int:
        return len(self._numpys)

    def __getattr__(self, name: str) -> Any:
        """Return `files`, `zip` or `fid` of NumPy's class."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._numpys, name)

    def __enter__(self) -> "NpzFile":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._numpys.close()

    @property
    def f(self) -> "_ByAttribute":
        """Arrays as attributes."""
        return _ByAttribute(self)

    def __repr__(self) -> str:
        return repr(self._numpys)


class _ByAttribute:
    """Attribute access to an `NpzFile`, as `NpzFile.f`."""

    def __init__(self, arrays: NpzFile) -> None:
        self._arrays = arrays

    def __getattr__(self, name: str) -> Any:
        try:
            return self._arrays[name]
        except KeyError:
            raise AttributeError(name) from None

    def __dir__(self) -> list[str]:
        return list(self._arrays)


def load(
    file: Any,
    mmap_mode: Any = None,
    allow_pickle: bool = False,
    fix_imports: bool = True,
    encoding: Any = "ASCII",
    *,
    max_header_size: int = 10000,
) -> Any:
    """Load an array from an `.npy` file, or the arrays of an `.npz` file.

    Parameters
    ----------
    file : path or file object
        The file.
    mmap_mode : {'r', 'r+', 'w+', 'c'}, optional
        Map the file into memory: the result is NumPy's `memmap`.
    allow_pickle : bool
        If True, load pickled objects, which can run any code: only from a file that you
        trust.
    fix_imports, encoding
        Options for pickles of Python 2.
    max_header_size : int
        Largest accepted length of the header.

    Returns
    -------
    ndarray or NpzFile

    Raises
    ------
    ValueError
        If the file holds a pickle, and that is not allowed.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> np.save(file, np.arange(3))
    >>> file.seek(0)
    0
    >>> np.load(file)
    array([0, 1, 2])
    """
    with _loading(file):
        if mmap_mode is None:
            _check_header(file, 2**64 if allow_pickle else max_header_size)
        found: Any = onp.load(
            file,
            mmap_mode,
            allow_pickle=allow_pickle,
            fix_imports=fix_imports,
            encoding=encoding,
            max_header_size=max_header_size,
        )
    if isinstance(found, onp.lib.npyio.NpzFile):
        return NpzFile(found)
    return found if isinstance(found, onp.memmap) else given_back(found)


def _loading(file: Any, *passed: type[Exception]) -> AbstractContextManager[None]:
    """Name the file in the error for a damaged one; NumPy's own classes pass."""
    source = os.fspath(file) if isinstance(file, str | os.PathLike) else type(file).__name__
    numpys = OSError, EOFError, ValueError, BadZipFile
    return reading(source, "file of NumPy's", DataFileError, *numpys, *passed)


def _check_header(file: Any, longest: int) -> None:
    """Raise ValueError if a file of one array is too short for it, before memory is taken."""
    named = isinstance(file, str | os.PathLike)
    if not named and not isinstance(file, io.BytesIO | io.BufferedReader):
        return
    with open(file, "rb") if named else nullcontext(file) as opened:
        if not opened.seekable():
            return
        begin = opened.tell()
        try:
            magic = opened.read(6)
            if magic.startswith(b"PK"):
                opened.seek(begin)
                ZipFile(opened).close()  # NumPy leaves the file open if this raises
            elif magic == onp.lib.format.MAGIC_PREFIX:
                opened.seek(begin)
                shape, _, dtype = npy_header.read(opened, longest)
                elements = opened.tell()
                npy_header.check(shape, dtype, opened.seek(0, os.SEEK_END) - elements)
        finally:
            opened.seek(begin)


def save(file: Any, arr: ArrayLike, allow_pickle: bool = True) -> None:
    """Save an array to an `.npy` file.

    Parameters
    ----------
    file : path or file object
        The file; a path gets the ending `.npy`. A file that exists is replaced when the new one is
        complete.
    arr : array_like
        The array.
    allow_pickle : bool
        If True, arrays of objects may be pickled.

    Examples
    --------
    >>> import io
    >>> np.save(io.BytesIO(), [1, 2])
    """
    _written(file, ".npy", lambda target: onp.save(target, _host(arr), allow_pickle))


def savez(file: Any, *args: ArrayLike, allow_pickle: bool = True, **kwds: ArrayLike) -> None:
    """Save several arrays to an `.npz` file.

    Parameters
    ----------
    file : path or file object
        The file; a path gets the ending `.npz`. A file that exists is replaced when the new one is
        complete.
    *args : array_like
        Arrays, named ``arr_0``, ``arr_1``, ...
    allow_pickle : bool
        If True, arrays of objects may be pickled.
    **kwds : array_like
        Arrays by name.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> np.savez(file, [1, 2], x=[3])
    >>> file.seek(0)
    0
    >>> np.load(file)["x"]
    array([3])
    """
    _zipped(onp.savez, file, args, allow_pickle, kwds)


def savez_compressed(
    file: Any, *args: ArrayLike, allow_pickle: bool = True, **kwds: ArrayLike
) -> None:
    """Save several arrays to a compressed `.npz` file; the arguments are those of `savez`.

    Examples
    --------
    >>> import io
    >>> np.savez_compressed(io.BytesIO(), np.zeros(1000))
    """
    _zipped(onp.savez_compressed, file, args, allow_pickle, kwds)


def _zipped(
    save: Any, file: Any, args: tuple[Any, ...], allow_pickle: bool, kwds: Mapping[str, Any]
) -> None:
    arrays, named = [_host(a) for a in args], {name: _host(a) for name, a in kwds.items()}
    _written(file, ".npz", lambda target: save(target, *arrays, allow_pickle=allow_pickle, **named))


# --- text -----------------------------------------------------------------------------------------


def _text_dtype(dtype: Any) -> Any:
    """Return the dtype of numbers in a text: Python's `float` and `complex` mean the defaults."""
    return dtypes.canonical(dtype) if dtype in (float, complex, "bfloat16") else dtype


def loadtxt(
    fname: Any,
    dtype: DTypeLike = float,
    comments: Any = "#",
    delimiter: str | None = None,
    converters: Any = None,
    skiprows: int = 0,
    usecols: Any = None,
    unpack: bool = False,
    ndmin: Any = 0,
    encoding: str | None = None,
    max_rows: int | None = None,
    *,
    quotechar: str | None = None,
    like: Any = None,
) -> "ndarray":
    """Load numbers from a text file, one row per line.

    Parameters
    ----------
    fname : path, file object, or iterable of str
        The text; a path may end in `.gz` or `.bz2`.
    dtype : dtype
        Dtype of the result.
    comments : str or sequence of str
        Start of a comment.
    delimiter : str, optional
        Separator of values; white space if not given.
    converters : callable or dict of int to callable, optional
        Functions that convert a string to a value, for all columns or for some.
    skiprows : int
        Number of lines to skip first.
    usecols : int or sequence of int, optional
        Columns to read.
    unpack : bool
        If True, transpose the result, so that it can be assigned to one name for each
        column.
    ndmin : {0, 1, 2}
        Least number of axes.
    encoding : str, optional
        The text's encoding.
    max_rows : int, optional
        Largest number of rows to read.
    quotechar : str, optional
        Quotation mark around values.
    like : array, optional
        Array of another library that creates the result, by `__array_function__`.

    Examples
    --------
    >>> np.loadtxt(["1 2", "3 4.5"])
    array([[1. , 2. ],
           [3. , 4.5]])
    """
    if like is not None and (made := made_like(like, loadtxt, locals())) is not NotImplemented:
        return made
    found = onp.loadtxt(
        fname,
        _text_dtype(dtype),
        comments,
        delimiter,
        converters,
        skiprows,
        as_numpys(usecols),
        unpack,
        ndmin,
        encoding,
        max_rows,
        quotechar=quotechar,
    )
    return given_back(found)


def genfromtxt(
    fname: Any,
    dtype: DTypeLike = float,
    comments: str = "#",
    delimiter: Any = None,
    skip_header: int = 0,
    skip_footer: int = 0,
    converters: Any = None,
    missing_values: Any = None,
    filling_values: Any = None,
    usecols: Any = None,
    names: Any = None,
    excludelist: Sequence[str] | None = None,
    deletechars: str = " !#$%&'()*+,-./:;<=>?@[\\]^{|}~",
    replace_space: str = "_",
    autostrip: bool = False,
    case_sensitive: Any = True,
    defaultfmt: str = "f%i",
    unpack: bool | None = None,
    usemask: bool = False,
    loose: bool = True,
    invalid_raise: bool = True,
    max_rows: int | None = None,
    encoding: str | None = None,
    *,
    ndmin: Any = 0,
    like: Any = None,
) -> Any:
    """Load numbers from a text file with missing values; the arguments are NumPy's.

    Parameters
    ----------
    fname : path, file object, or iterable of str
        The text.
    dtype : dtype, optional
        Dtype of the result; with None it is found for each column.
    delimiter : str, int, or sequence of int, optional
        Separator of values, or widths of columns.
    skip_header, skip_footer : int
        Number of lines to skip at the beginning and at the end.
    missing_values, filling_values
        Marks of missing values, and their replacements (NaN if not given).
    usemask : bool
        If True, return NumPy's masked array.
    names
        Names of the columns; then the result is NumPy's array of records.

    Examples
    --------
    >>> np.genfromtxt(["1,2", "3,"], delimiter=",")
    array([[ 1.,  2.],
           [ 3., nan]])
    """
    if like is not None and (made := made_like(like, genfromtxt, locals())) is not NotImplemented:
        return made
    found = onp.genfromtxt(
        fname, _text_dtype(dtype), comments, delimiter, skip_header, skip_footer, converters,
        missing_values, filling_values, as_numpys(usecols), names, excludelist, deletechars,
        replace_space, autostrip, case_sensitive, defaultfmt, unpack, usemask, loose,
        invalid_raise, max_rows, encoding, ndmin=ndmin,
    )  # fmt: skip
    return given_back(found, () if dtype is None else None)


def savetxt(
    fname: Any,
    X: ArrayLike,
    fmt: Any = "%.18e",
    delimiter: str = " ",
    newline: str = "\n",
    header: str = "",
    footer: str = "",
    comments: str = "# ",
    encoding: str | None = None,
) -> None:
    """Save an array of one or two axes as a text, one row per line.

    Parameters
    ----------
    fname : path or file object
        File to write; a path that ends in `.gz`, `.bz2`, `.xz` or `.lzma` is compressed. An error
        leaves an older file as it was.
    X : array_like
        The array.
    fmt : str or sequence of str
        Format of a number, or of the numbers of each column.
    delimiter, newline : str
        Text between values, and after a row.
    header, footer : str
        Text at the beginning and at the end, after `comments`.
    comments : str
        Start of a comment.
    encoding : str, optional
        The text's encoding.

    Examples
    --------
    >>> import sys
    >>> np.savetxt(sys.stdout, np.array([[1, 2], [3, 4]]), fmt="%d")
    1 2
    3 4
    """
    with _text_file(fname, encoding) as file:
        onp.savetxt(file, _host(X), fmt, delimiter, newline, header, footer, comments, encoding)


_COMPRESSED = {".gz": "gzip", ".bz2": "bz2", ".xz": "lzma", ".lzma": "lzma"}
"""Modules of Python's that compress, by the end of a path; an installation may lack some."""


@contextmanager
def _text_file(file: Any, encoding: str | None) -> Iterator[Any]:
    """Open a text file for writing, one that is given by path; an error leaves the old one."""
    if not isinstance(file, str | os.PathLike):
        yield file
        return
    compressed = _COMPRESSED.get(Path(file).suffix)
    with atomic_file.opened(file) as binary:
        if compressed is not None:
            with import_module(compressed).open(binary, "wt", encoding=encoding) as text:
                yield text
        else:
            text = io.TextIOWrapper(binary, encoding)
            yield text
            text.detach()  # which leaves the file open


# --- bytes and strings ----------------------------------------------------------------------------


def _dtype_of(dtype: Any, sep: str) -> Any:
    if sep:
        return _text_dtype(float if dtype is None else dtype)
    return (
        onp.float64
        if dtype is None or dtype is float
        else onp.complex128
        if dtype is complex
        else dtypes.canonical(dtype)
    )


@unbound
def fromfile(
    file: Any,
    dtype: DTypeLike = None,
    count: int = -1,
    sep: str = "",
    offset: int = 0,
    *,
    like: Any = None,
) -> "ndarray":
    """Read numbers from a file: its bytes, or its text if a separator is given.

    Parameters
    ----------
    file : path or file object
        The file.
    dtype : dtype, optional
        Their dtype: 64-bit floats in bytes, and the default float in a text, if not given.
    count : int
        Number of values to read; -1 for all.
    sep : str
        Separator of numbers in a text.
    offset : int
        Number of bytes to skip first.
    like : array, optional
        Array of another library that creates the result, by `__array_function__`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryFile() as file:
    ...     _ = file.write(bytes([1, 0, 2, 0]))
    ...     _ = file.seek(0)
    ...     np.fromfile(file, dtype="int16")
    array([1, 2], dtype=int16)
    """
    if like is not None and (made := made_like(like, fromfile, locals())) is not NotImplemented:
        return made
    return given_back(onp.fromfile(file, _dtype_of(dtype, sep), count, sep, offset))


@unbound
def fromstring(
    string: str, dtype: DTypeLike = float, count: int = -1, sep: str = "", *, like: Any = None
) -> "ndarray":
    """Parse the numbers in a string.

    Parameters
    ----------
    string : str
        The numbers.
    dtype : dtype
        Their dtype.
    count : int
        Number of values to read; -1 for all.
    sep : str
        Separator; it must be given.
    like : array, optional
        Array of another library that creates the result, by `__array_function__`.

    Raises
    ------
    ValueError
        If `sep` is not given: use `frombuffer`.

    Examples
    --------
    >>> np.fromstring("1, 2", dtype=int, sep=",")
    array([1, 2])
    """
    if like is not None and (made := made_like(like, fromstring, locals())) is not NotImplemented:
        return made
    return given_back(onp.fromstring(string, _dtype_of(dtype, sep), count, sep=sep))


__all__ = [
    "fromfile", "fromstring", "genfromtxt", "load", "loadtxt", "save", "savetxt", "savez",
    "savez_compressed",
]  # fmt: skip
