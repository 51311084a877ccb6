"""Pretrained parameters, read from a local folder; nothing is downloaded."""

import os
from pathlib import Path
from typing import Any, TypeVar

from npcompat.gluon._placement import one_of, place_of
from npcompat.gluon.block import HybridBlock

_Net = TypeVar("_Net", bound=HybridBlock)


def completed(
    net: _Net,
    name: str,
    pretrained: bool,
    device: Any,
    root: str | os.PathLike[str] | None,
    ctx: Any,
) -> _Net:
    """Return the network, with pretrained parameters of a local file if `pretrained`.

    Parameters
    ----------
    net : HybridBlock
        The network.
    name : str
        Name of its files.
    pretrained : bool
        Whether to read a file.
    device, ctx : Device or str, optional
        Device of the parameters: of those in the file, or of those that `initialize` makes.
    root : path, optional
        The folder; `$MXNET_HOME/models`, or `~/.mxnet/models`, if not given.

    Raises
    ------
    FileNotFoundError
        If there is none; the message says where to put it.
    """
    chosen = place_of(one_of(device, ctx, name))
    if pretrained:
        net.load_parameters(found(name, root), device=chosen)
    elif chosen is not None:
        net.__dict__["_device"] = chosen
    return net


def found(name: str, root: str | os.PathLike[str] | None = None) -> Path:
    """Return the path of a network's parameter file in a folder.

    MXNet's names, such as `name-1a2b3c4d.params`, are found, too.
    """
    folder = (
        Path(os.environ.get("MXNET_HOME", "~/.mxnet"), "models") if root is None else Path(root)
    )
    folder = folder.expanduser()
    exact = [folder / f"{name}{ending}" for ending in (".safetensors", ".params")]
    files = [path for path in exact if path.is_file()][:1] or sorted(
        folder.glob(f"{name}-*.params")
    )
    if len(files) == 1:
        return files[0]
    if files:
        raise ValueError(
            f"{name}: several files of parameters in {folder}, keep one: "
            f"{', '.join(path.name for path in files)}"
        )
    raise FileNotFoundError(
        f"{name}: no pretrained parameters in {folder}; nothing is downloaded. Put a file "
        f"{name}.safetensors (of save_parameters) or "
        f"{name}.params (of MXNet's model zoo) there, or give the folder as root="
    )


__all__ = ["completed", "found"]
