"""Utilities of MXNet's `gluon.utils`: split batches, clip gradients, hooks and downloads."""

import hashlib
import math
import os
import urllib.error
import urllib.request
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import processes
from npcompat._internal.core import dtypes, modes, trace_notes
from npcompat._internal.core.dtypes import Resolution, Type
from npcompat._internal.core.op import normalized_axes, operator
from npcompat._internal.dispatch.apply import apply
from npcompat._internal.dispatch.devices import as_device, devices_of
from npcompat._internal.dispatch.meshes import Mesh
from npcompat._internal.support import atomic_file
from npcompat._internal.support.errors import TracedValueError, user_location
from npcompat.gluon._placement import placements
from npcompat.numpy._creation import asarray
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import ArrayLike
from npcompat.numpy_extension._sharding import from_local


class HookHandle:
    """Handle of a registered hook; `detach()` removes the hook.

    Examples
    --------
    >>> layer = gluon.nn.Flatten()
    >>> handle = layer.register_forward_hook(lambda block, inputs, output: print(output.shape))
    >>> y = layer(np.zeros((2, 3, 4)))
    (2, 12)
    >>> handle.detach()
    >>> y = layer(np.zeros((2, 3, 4)))
    """

    __slots__ = ("_hooks",)

    def __init__(self, hooks: dict[Any, Any], hook: Any) -> None:
        self._hooks: dict[Any, Any] | None = hooks
        self._note(hooks)
        hooks[self] = hook

    def _note(self, hooks: dict[Any, Any]) -> None:
        """Let a running trace know the hooks before they change."""
        if modes.current().trace is not None:
            trace_notes.counted_items(hooks)

    def detach(self) -> None:
        """Remove the hook; does nothing the second time."""
        if self._hooks is not None:
            self._note(self._hooks)
            self._hooks.pop(self, None)
            self._hooks = None

    def __enter__(self) -> "HookHandle":
        return self

    def __exit__(self, *error: object) -> None:
        self.detach()


def split_data(
    data: ArrayLike, num_slice: int, batch_axis: int = 0, even_split: bool = True
) -> list[ndarray]:
    """Split a batch into slices, one for each device.

    Parameters
    ----------
    data : array_like
        Batch.
    num_slice : int
        Number of parts.
    batch_axis : int
        The axis to cut.
    even_split : bool
        Whether parts must be of equal size; if not, the first ones may have one element more than
        others, and parts may be empty.

    Raises
    ------
    ValueError
        If the batch can't be cut evenly, and must be.

    Examples
    --------
    >>> gluon.utils.split_data(np.arange(4), 2)
    [array([0, 1]), array([2, 3])]
    """
    data = asarray(data)
    size = data.shape[normalized_axes(batch_axis, data.ndim)[0]]
    if even_split and size % num_slice:
        raise ValueError(
            f"split_data: {size} elements along axis {batch_axis} can't be cut into {num_slice} "
            "equal parts; pass even_split=False"
        )
    length, longer = divmod(size, num_slice)
    ends = [length * i + min(i, longer) for i in range(1, num_slice + 1)]
    before: tuple[slice, ...] = (slice(None),) * (batch_axis % data.ndim)
    return [
        data[(*before, slice(begin, end))] for begin, end in zip([0, *ends], ends, strict=False)
    ]


def split_and_load(
    data: ArrayLike, ctx_list: Sequence[Any], batch_axis: int = 0, even_split: bool = True
) -> list[ndarray]:
    """Split a batch, and move each slice to its device.

    Where parameters lie on these devices together (`net.initialize(ctx=ctx_list)`), the list has
    one array, which lies in slices on all of them: its loss is that of the whole batch.

    Parameters
    ----------
    data : array_like
        Batch.
    ctx_list : sequence of Device or str
        The devices.
    batch_axis, even_split
        As for `split_data`.

    Examples
    --------
    >>> gluon.utils.split_and_load(np.arange(4), [npx.cpu()])
    [array([0, 1, 2, 3])]
    """
    if not isinstance(ctx_list, list | tuple) or not ctx_list:
        raise TypeError(
            f"split_and_load: ctx_list: expected a list of devices, got {ctx_list!r}; a batch is laid "
            "out on a mesh by npx.shard(x, mesh, 'data')"
        )
    devices = list(dict.fromkeys(map(as_device, ctx_list)))
    if processes.count() > 1:
        return [_of_all_processes(asarray(data), len(devices), batch_axis)]
    if len(devices) > 1 and placements.together([d.resolve() for d in devices]):
        whole = asarray(data)
        normalized_axes(batch_axis, whole.ndim)
        cut = Mesh(devices)(*[None] * (batch_axis % whole.ndim), "data")
        if not even_split and not cut.fits(whole.shape):
            return [whole.to_device(cut.mesh())]
        cut.check(whole.shape, "split_and_load: a batch")
        return [whole.to_device(cut)]
    parts = split_data(data, len(ctx_list), batch_axis, even_split)
    return [part.to_device(as_device(device)) for part, device in zip(parts, ctx_list, strict=True)]


def _of_all_processes(rows: ndarray, devices: int, axis: int) -> ndarray:
    """Return the batch of all processes, of which this one has some rows."""
    mesh = Mesh()
    here = len(devices_of(mesh()))
    if devices != here:
        raise ValueError(
            f"split_and_load: expected all {here} devices of this process, got {devices}: an array "
            "of several processes lies on all of theirs"
        )
    if rows.shape[axis] % here:
        raise ValueError(
            f"split_and_load: {rows.shape[axis]} rows of this process can't be cut for its {here} "
            "devices; use last_batch='discard'"
        )
    return from_local(rows, mesh(*[None] * (axis % rows.ndim), "data"))


def _normed(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    working = dtypes.result_type([onp.dtype("float32"), *[dtypes.strong(t) for t in types]])
    return [working] * len(types), working


@operator("_npx_global_norm", rule=_normed, pattern="reduction")
def _global_norm(xp: Any, *arrays: Any) -> Any:
    """2-norm of all elements of all arrays."""
    total = xp.sum(xp.square(arrays[0]))
    for array in arrays[1:]:
        total = total + xp.sum(xp.square(array))
    return xp.sqrt(total)


def _yes_or_no(types: tuple[Type, ...], attrs: Any) -> Resolution:
    return [None] * len(types), dtypes.canonical("bool")


@operator("_npx_all_finite", rule=_yes_or_no, pattern="reduction", differentiable=False)
def _all_finite(xp: Any, *arrays: Any) -> Any:
    """True if all elements of all arrays are finite."""
    found = xp.all(xp.isfinite(arrays[0]))
    for array in arrays[1:]:
        found = found & xp.all(xp.isfinite(array))
    return found


def all_finite(*arrays: ArrayLike) -> ndarray:
    """Return True if all elements of all arrays are finite, as an array, without blocking.

    Examples
    --------
    >>> gluon.utils.all_finite(np.ones(2), np.array([np.inf])).item()
    False
    """
    return apply(_all_finite, arrays)


def clip_global_norm(
    arrays: Sequence[Any], max_norm: float, check_isfinite: bool = True
) -> float | ndarray:
    """Clip gradients by their global norm, in place.

    Parameters
    ----------
    arrays : sequence of ndarray
        Arrays that are scaled, usually gradients.
    max_norm : float
        The limit.
    check_isfinite : bool
        Whether to warn, and leave the arrays alone, if the norm is not finite. That waits for the
        computation, and is not possible in a compiled function.

    Returns
    -------
    float or ndarray
        The norm before; an array if `check_isfinite` is False.

    Examples
    --------
    >>> g = np.array([3.0, 4.0])
    >>> gluon.utils.clip_global_norm([g], 1.0)
    5.0
    >>> g
    array([0.6, 0.8])
    """
    if not arrays:
        raise ValueError("clip_global_norm: expected at least one array")
    with modes.changed(recording=False):
        norm = apply(_global_norm, arrays)
        if check_isfinite:
            try:
                value = float(norm)
            except TracedValueError as error:
                raise TracedValueError(
                    f"{user_location()}: clip_global_norm waits for the norm, to see if it is "
                    "finite, which a compiled function can't; pass check_isfinite=False"
                ) from error
            if not math.isfinite(value):
                warnings.warn(
                    f"clip_global_norm: the norm is {value}; the arrays are left as they are",
                    stacklevel=2,
                )
                return value
        factor = (max_norm / (norm + 1e-8)).clip(None, 1.0)
        for array in arrays:
            array *= factor.astype(array.dtype)
    return value if check_isfinite else norm


def check_sha1(filename: str | os.PathLike[str], sha1_hash: str) -> bool:
    """Return True if the SHA-1 of a file's content is the given one, in hexadecimal.

    Examples
    --------
    >>> import os
    >>> gluon.utils.check_sha1(os.devnull, "da39a3ee5e6b4b0d3255bfef95601890afd80709")
    True
    """
    with open(filename, "rb") as file:
        return hashlib.file_digest(file, "sha1").hexdigest() == sha1_hash.lower()


def replace_file(src: str | os.PathLike[str], dst: str | os.PathLike[str]) -> None:
    """Move a file over another one atomically.

    Parameters
    ----------
    src, dst : path
        Source and target, on the same file system.
    """
    os.replace(src, dst)


def download(
    url: str,
    path: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    sha1_hash: str | None = None,
    retries: int = 5,
    verify_ssl: bool = True,
) -> str:
    """Download a file, unless it exists.

    Parameters
    ----------
    url : str
        Address of the file.
    path : path, optional
        A file, or a folder to put it into; the running folder if not given.
    overwrite : bool
        Whether a file that is there is fetched again.
    sha1_hash : str, optional
        SHA-1 that the content must have.
    retries : int
        Number of retries.
    verify_ssl : bool
        Certificates are always checked: False raises NotImplementedError.

    Returns
    -------
    str
        Path of the file.

    Raises
    ------
    OSError
        If it can't be fetched, or has another SHA-1.
    """
    if not verify_ssl:
        raise NotImplementedError("download(verify_ssl=False): certificates are always checked")
    if retries < 0:
        raise ValueError(f"download: retries must not be negative, got {retries}")
    name = url.rsplit("/", 1)[-1]
    target = Path(name if path is None else path).expanduser()
    if target.is_dir():
        target /= name
    if target.exists() and not overwrite and (sha1_hash is None or check_sha1(target, sha1_hash)):
        return str(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    for attempt in range(retries + 1):
        try:
            with urllib.request.urlopen(url) as answer:
                content = answer.read()
        except urllib.error.URLError:
            if attempt == retries:
                raise
            continue
        if sha1_hash is None or hashlib.sha1(content).hexdigest() == sha1_hash.lower():
            atomic_file.write(target, content)
            return str(target)
    raise OSError(
        f"download: {url} has another SHA-1 than {sha1_hash}, also after {retries + 1} tries"
    )


__all__ = [
    "HookHandle",
    "all_finite",
    "check_sha1",
    "clip_global_norm",
    "download",
    "replace_file",
    "split_and_load",
    "split_data",
]
