"""Saving and loading of whole models: the structure of a block, and its parameters.

The block must be constructed before its files are loaded.
"""

import json
import os
from pathlib import Path
from typing import Any

from npcompat._internal.support import atomic_file
from npcompat._internal.support.damaged_file import reading
from npcompat._internal.support.errors import ParameterFileError

VERSION = 1


class Structured:
    """Mixin of blocks with `save` and `load` for whole models."""

    __slots__ = ()

    def save(self, prefix: str | os.PathLike[str]) -> None:
        """Write the structure to `prefix-model.json`, the parameters to `prefix-model.params`.

        Parameters
        ----------
        prefix : path
            Prefix of the files' names; an interruption leaves older files as they were.

        Examples
        --------
        >>> import os, tempfile
        >>> prefix = os.path.join(tempfile.mkdtemp(), "net")
        >>> net, same = nn.Dense(2, in_units=3), nn.Dense(2, in_units=3)
        >>> net.initialize()
        >>> net.save(prefix)
        >>> same.load(prefix)
        >>> bool((same.weight.data() == net.weight.data()).all())
        True
        """
        self.save_parameters(f"{os.fspath(prefix)}-model.params")  # type: ignore[attr-defined]
        content = json.dumps(
            {"format": "npcompat.model", "version": VERSION, "model": _structure(self)}, indent=1
        )
        atomic_file.write(f"{os.fspath(prefix)}-model.json", content.encode())

    def load(self, prefix: str | os.PathLike[str]) -> None:
        """Load the parameters that `save` wrote into a block of the same structure.

        Parameters
        ----------
        prefix : path
            Prefix of the files' names.

        Raises
        ------
        ParameterFileError
            If a file is damaged, or the block has another structure: the differences are listed,
            and nothing is changed.
        """
        source = f"{os.fspath(prefix)}-model.json"
        content = Path(source).read_bytes()
        with reading(source, "description of a model", ParameterFileError):
            found = json.loads(content.decode())
            if found["format"] != "npcompat.model" or found["version"] != VERSION:
                raise ParameterFileError(
                    f"{source}: expected a model of version {VERSION}, got {found['format']} "
                    f"{found['version']}"
                )
            saved = found["model"]
            differences = _differences(saved, _structure(self), type(self).__name__)
        if differences:
            listed = "\n  ".join(differences)
            raise ParameterFileError(
                f"{source} was written by a block that is made otherwise; nothing was loaded:\n  "
                f"{listed}"
            )
        self.load_parameters(f"{os.fspath(prefix)}-model.params")  # type: ignore[attr-defined]


def _structure(block: Any) -> dict[str, Any]:
    children = {name: _structure(child) for name, child in block._blocks().items()}
    return {
        "class": type(block).__name__,
        "parameters": list(block._reg_params),
        "children": children,
    }


def _differences(saved: dict[str, Any], here: dict[str, Any], path: str) -> list[str]:
    """List the differences between two structures."""
    if saved["class"] != here["class"]:
        return [f"{path}: a {saved['class']} there, a {here['class']} here"]
    found = []
    for what in ("parameters", "children"):
        there, mine = list(saved[what]), list(here[what])
        if there != mine:
            found.append(
                f"{path}: {what} {', '.join(there) or 'none'} there, {', '.join(mine) or 'none'} "
                "here"
            )
    for name in saved["children"].keys() & here["children"].keys():
        found += _differences(saved["children"][name], here["children"][name], f"{path}.{name}")
    return found


__all__ = ["Structured"]
