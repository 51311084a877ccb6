"""Arrays on several devices, and of several processes: layouts, parts, pictures of both."""

from typing import Any

import numpy as onp

from npcompat._internal.backend.jax import processes
from npcompat._internal.backend.jax import sharding as layouts
from npcompat._internal.backend.jax.namespace import Array, is_tracer
from npcompat._internal.core.handle import Value
from npcompat._internal.dispatch import handles, pending_errors
from npcompat._internal.dispatch.devices import device_of, moved
from npcompat._internal.dispatch.meshes import Mesh, Part, Sharding
from npcompat._internal.dispatch.placement import constant
from npcompat._internal.support.errors import TracedValueError
from npcompat._internal.support.text_table import table
from npcompat.numpy._creation import asarray
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import ArrayLike


def shard(x: ArrayLike, mesh: Mesh | Sharding, *spec: Part) -> ndarray:
    """Shard an array over a mesh: lay it out in pieces on several devices.

    In a compiled function this is a constraint for the compiler, which moves values as it needs.

    Parameters
    ----------
    x : array_like
        Array, which is left as it is.
    mesh : Mesh or Sharding
        The devices; or a layout, such as ``mesh("data")``, to which no `spec` is added.
    *spec : str, tuple of str, or None
        For each axis of the array the axes of the mesh along which it is cut; None, and axes that
        are not mentioned, stay whole.

    Returns
    -------
    ndarray
        A copy that is laid out so; the array itself, if it lies so already.

    Raises
    ------
    ValueError
        If a name is no axis of the mesh, or an axis of the array can't be cut evenly.

    Examples
    --------
    >>> mesh = npx.Mesh([npx.cpu(0)], data=1)
    >>> npx.shard(np.arange(4), mesh, "data").tolist()
    [0, 1, 2, 3]
    """
    if isinstance(mesh, Sharding) and spec:
        raise TypeError(f"shard: {mesh!r} is a layout already: give no axes beside it, got {spec}")
    if layouts.is_grid(mesh):
        raise TypeError(
            "shard: mesh: expected a Mesh or a Sharding, got a mesh of JAX's; npx.Mesh(mesh) makes "
            "one of it"
        )
    if not isinstance(mesh, Mesh | Sharding):
        raise TypeError(
            f"shard: mesh: expected a Mesh or a Sharding, got {type(mesh).__name__}; as in "
            "npx.shard(x, mesh, 'data')"
        )
    found: ndarray = moved(asarray(x), mesh(*spec) if isinstance(mesh, Mesh) else mesh)
    return found


def gather(x: ArrayLike) -> ndarray:
    """Gather an array whose parts lie in several processes; all of them must call it.

    Parameters
    ----------
    x : array_like
        Array.

    Returns
    -------
    ndarray
        All values, in each process; placed where new arrays go.

    Examples
    --------
    >>> npx.gather(np.arange(3))
    array([0, 1, 2])
    """
    payload = handles.read(asarray(x)).payload
    found = payload if type(payload) is onp.ndarray else layouts.gathered(payload)
    made: ndarray = handles.wrap(constant(onp.array(found)))
    return made


def from_local(rows: ArrayLike, sharding: Sharding) -> ndarray:
    """Make one array of the parts that the processes have of it; all of them must call it.

    Parameters
    ----------
    rows : array_like
        Part of this process: the rows that its devices hold.
    sharding : Sharding
        Layout of the whole, such as ``mesh("data")``.

    Returns
    -------
    ndarray
        The whole. In a process that is alone, it has the values of `rows`.

    Examples
    --------
    >>> mesh = npx.Mesh([npx.cpu(0)], data=1)
    >>> npx.from_local(np.arange(3), mesh("data")).tolist()
    [0, 1, 2]
    """
    if not isinstance(sharding, Sharding):
        raise TypeError(
            "from_local: sharding: expected a layout such as mesh('data'), got "
            f"{type(sharding).__name__}"
        )
    made = joined(asarray(rows), sharding)
    check_alike("from_local", f"an array of shape {made.shape} and {made.dtype}", sharding)
    return made


def joined(rows: ndarray, sharding: Sharding) -> ndarray:
    """Make one array of the parts of the processes, which are not compared."""
    sharding.check_axes(rows.shape, "an array")
    if processes.count() == 1:
        made: ndarray = moved(rows, sharding)
        return made
    made = handles.wrap(Value(_from_rows(handles.to_host(rows), sharding)))
    return made


def check_alike(owner: str, what: str, place: Sharding) -> None:
    """Raise RuntimeError, at the next read at the latest, if processes have made different things:
    XLA would exchange pieces of different lengths, and end them or give each other results.
    """
    if processes.count() == 1:
        return
    message = (
        f"{owner}: the processes differ: process {processes.rank()} has made {what}. Their parts must "
        "have equal shapes, so pad to a fixed length, and come in the same order"
    )
    pending_errors.expect(processes.differ(what, place.resolve()), [(RuntimeError, message)])
    if place.device_type == "cpu":
        pending_errors.raise_pending()


def _from_rows(rows: onp.ndarray[Any, Any], place: Sharding) -> Any:
    try:
        return layouts.from_local_rows(rows, place.resolve())
    except ValueError as error:
        raise ValueError(
            f"from_local: the part of this process, of shape {rows.shape}, can't be cut evenly by "
            f"{place!r}: {error}"
        ) from error


def show_sharding(x: ArrayLike, ax: Any = None) -> Any:
    """Show the sharding of an array: which device holds which part, as text or as a picture.

    Parameters
    ----------
    x : array_like
        Array; of a parameter, ``p.data()``.
    ax : matplotlib.axes.Axes, optional
        Where the picture is drawn; the text is printed if it is not given.

    Returns
    -------
    matplotlib.axes.Axes or None
        `ax`.

    Examples
    --------
    >>> npx.show_sharding(np.ones((4, 2)))
    part        shape   devices
    ----------  ------  -------
    [0:4, 0:2]  (4, 2)  cpu(0)
    """
    array = asarray(x)
    if array.dtype == object:
        raise TypeError(
            f"show_sharding: expected an array, got {type(x).__name__}; that of a parameter is "
            "p.data()"
        )
    parts = _parts(array)
    if ax is not None and not hasattr(ax, "fill"):
        raise TypeError(
            f"show_sharding: ax: expected axes of matplotlib, got {type(ax).__name__}; as in "
            "npx.show_sharding(x, ax=plt.gca())"
        )
    if ax is not None:
        return _drawn(array.shape, parts, ax)
    rows = [
        (
            "[" + ", ".join([f"{begin}:{end}" for begin, end in spans]) + "]",
            str(tuple([end - begin for begin, end in spans])),
            ", ".join(names),
        )
        for spans, names in parts.items()
    ]
    print(table(("part", "shape", "devices"), rows))
    return None


def _parts(array: ndarray) -> dict[tuple[tuple[int, int], ...], list[str]]:
    """Return the spans of each part, with the names of the devices that hold it."""
    payload = handles.read(array).payload
    if is_tracer(payload):
        raise TracedValueError(
            "show_sharding: while a function is being compiled, nobody knows where its arrays will "
            "lie: show what it returns"
        )
    if not isinstance(payload, Array):
        return {tuple([(0, length) for length in array.shape]): [repr(device_of(array))]}
    return {spans: [*map(_name, found)] for spans, found in layouts.parts_of(payload).items()}


def _name(device: Any) -> str:
    """Return the name of a device of any process, by its number there."""
    rank = device.process_index
    numbers = sorted([d.id for d in device.client.devices() if d.process_index == rank])
    kind = {"cuda": "gpu"}.get(device.platform, device.platform)
    name = f"{kind}({numbers.index(device.id)})"
    return name if processes.count() == 1 else f"{name} of process {rank}"


def _drawn(shape: tuple[int, ...], parts: Any, ax: Any) -> Any:
    """Draw the parts of an array of up to two axes."""
    if len(shape) > 2:
        raise NotImplementedError(
            f"show_sharding(ax=...): pictures are of arrays with up to two axes, got {len(shape)}; "
            "without ax= the parts are printed"
        )
    rows, columns = (1, 1, *shape)[-2:] if len(shape) < 2 else shape
    for number, (spans, names) in enumerate(parts.items()):
        (top, bottom), (left, right) = ((0, 1), (0, 1), *spans)[-2:]
        corners = [left, right, right, left], [top, top, bottom, bottom]
        ax.fill(*corners, facecolor=f"C{number % 10}", edgecolor="white", alpha=0.6)
        text = "\n".join(names[:4]) + ("\n..." if len(names) > 4 else "")
        ax.text((left + right) / 2, (top + bottom) / 2, text, ha="center", va="center")
    ax.set_xlim(0, columns)
    ax.set_ylim(rows, 0)
    ax.set_title(f"{tuple(shape)}, {len(parts)} parts")
    return ax


__all__ = ["Mesh", "Sharding", "from_local", "gather", "shard", "show_sharding"]
