"""Save and load arrays, lists and dicts of arrays."""

import os
from collections.abc import Mapping
from typing import Any

import numpy as onp

from npcompat._internal.files import array_file
from npcompat.numpy._creation import array, asarray
from npcompat.numpy._typing import ArrayLike


def _host(value: Any, what: str) -> onp.ndarray[Any, Any]:
    found: onp.ndarray[Any, Any] = asarray(value).asnumpy()
    if found.dtype.hasobject:
        raise TypeError(f"{what}: arrays of objects can't be saved")
    return found


def save(file: str | os.PathLike[str], arr: Any) -> None:
    """Save an array, a list of arrays or a dict of arrays to a file.

    An interruption leaves an older file as it was.

    Parameters
    ----------
    file : path
        The file; no extension is appended.
    arr : ndarray, list of ndarray or dict of str to ndarray
        The data. The file has NumPy's format: `.npy` for an array, `.npz` for several.

    Examples
    --------
    >>> import os, tempfile
    >>> file = os.path.join(tempfile.mkdtemp(), "x-files")
    >>> npx.save(file, [np.arange(2), np.ones(2)])
    >>> npx.load(file)
    [array([0, 1]), array([1., 1.])]
    """
    if isinstance(arr, Mapping):
        bad = [name for name in arr if not isinstance(name, str)]
        if bad:
            raise TypeError(f"save: names of arrays must be strings, got {bad[0]!r}")
        array_file.write(file, "dict", {name: _host(a, f"save: {name}") for name, a in arr.items()})
    elif isinstance(arr, list | tuple):
        array_file.write(
            file, "list", {f"arr_{i}": _host(a, f"save: array {i}") for i, a in enumerate(arr)}
        )
    else:
        array_file.write(file, "array", {"arr_0": _host(arr, "save")})


def savez(file: str | os.PathLike[str], *args: ArrayLike, **kwds: ArrayLike) -> None:
    """Save several arrays to a file of NumPy's `.npz` format.

    An interruption leaves an older file as it was.

    Parameters
    ----------
    file : path
        The file; no extension is appended.
    *args, **kwds : ndarray
        The arrays; those without a name are called 'arr_0', 'arr_1' and so on.

    Examples
    --------
    >>> import os, tempfile
    >>> file = os.path.join(tempfile.mkdtemp(), "both.npz")
    >>> npx.savez(file, np.arange(2), b=np.ones(2))
    >>> npx.load(file)
    {'arr_0': array([0, 1]), 'b': array([1., 1.])}
    """
    arrays = {f"arr_{i}": a for i, a in enumerate(args)}
    twice = arrays.keys() & kwds.keys()
    if twice:
        raise ValueError(f"savez: {min(twice)} is the name of an array without one, and a keyword")
    array_file.write(
        file, "dict", {name: _host(a, f"savez: {name}") for name, a in {**arrays, **kwds}.items()}
    )


def load(file: str | os.PathLike[str]) -> Any:
    """Load arrays that `save`, `savez`, `save_parameters`, NumPy or MXNet wrote.

    Parameters
    ----------
    file : path
        A file of NumPy's formats, safetensors, or a list of dense arrays of MXNet; the format is
        detected from the content.

    Returns
    -------
    ndarray, list of ndarray or dict of str to ndarray
        The saved arrays.

    Raises
    ------
    ParameterFileError
        If the file is damaged.
    """
    kind, arrays = array_file.read(file)
    found = {name: array(a) for name, a in arrays.items()}
    return (
        found
        if kind == "dict"
        else list(found.values())
        if kind == "list"
        else next(iter(found.values()))
    )


__all__ = ["load", "save", "savez"]
