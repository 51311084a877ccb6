"""Files of blocks: parameters, and whole models, which are parameters and a structure.

The block must be constructed before its files are loaded.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as onp

from npcompat._internal.files import array_file, safetensors_file
from npcompat._internal.support import atomic_file
from npcompat._internal.support.damaged_file import reading
from npcompat._internal.support.errors import ParameterFileError
from npcompat.gluon._parameter import once
from npcompat.gluon._placement import one_of
from npcompat.gluon.parameter import Parameter, ParameterDict

VERSION = 1


class Structured:
    """Mixin of blocks that save and load their parameters, and whole models."""

    __slots__ = ()

    if TYPE_CHECKING:

        def collect_params(self, select: str | None = None) -> ParameterDict:
            """All parameters of the block, by name."""

    def save_parameters(self, filename: str | os.PathLike[str], deduplicate: bool = False) -> None:
        """Write all parameters to a safetensors file.

        An interruption leaves an older file as it was.

        Parameters
        ----------
        filename : path
            The file.
        deduplicate : bool
            Whether a parameter that has several names is written under the first one only.

        Raises
        ------
        RuntimeError
            If a parameter has no values yet.
        """
        found = self.collect_params()
        safetensors_file.save(
            filename,
            {n: p.data().asnumpy() for n, p in (once(found) if deduplicate else found).items()},
        )

    def load_parameters(
        self,
        filename: str | os.PathLike[str],
        device: Any = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
        cast_dtype: bool = False,
        dtype_source: str = "current",
        *,
        ctx: Any = None,
    ) -> None:
        """Load all parameters from a file.

        Nothing is changed unless everything fits.

        Parameters
        ----------
        filename : path
            A file that `save_parameters`, `npx.savez` or MXNet (`.params`) wrote; the content says
            which.
        device, ctx : Device or str, optional
            Device of parameters that were not initialized.
        allow_missing : bool
            Whether parameters that are not in the file are left as they are.
        ignore_extra : bool
            Whether the file may hold more.
        cast_dtype : bool
            Whether dtypes may differ.
        dtype_source : {'current', 'saved'}
            The dtype that parameters keep, if dtypes may differ.

        Raises
        ------
        ParameterFileError
            If the file is damaged, or does not fit: names, shapes and dtypes that differ are
            listed.
        """
        owner = ("block", type(self).__name__)
        self.collect_params()._take(
            array_file.read_named(filename),
            os.fspath(filename),
            owner,
            one_of(device, ctx, "load_parameters"),
            allow_missing,
            ignore_extra,
            cast_dtype,
            dtype_source,
        )

    def load_dict(
        self,
        param_dict: Mapping[str, Any],
        device: Any = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
        cast_dtype: bool = False,
        dtype_source: str = "current",
        *,
        ctx: Any = None,
    ) -> None:
        """Load all parameters from a dict of arrays.

        The other arguments are those of `load_parameters`.

        Examples
        --------
        >>> net = nn.Dense(1, in_units=2, use_bias=False)
        >>> net.load_dict({"weight": np.array([[1.0, 2.0]])})
        >>> net.weight.data()
        array([[1., 2.]])
        """
        loaded = {n: a.data() if isinstance(a, Parameter) else a for n, a in param_dict.items()}
        arrays = {
            n: a.asnumpy() if hasattr(a, "asnumpy") else onp.asarray(a) for n, a in loaded.items()
        }
        owner, target = ("block", type(self).__name__), one_of(device, ctx, "load_dict")
        self.collect_params()._take(
            arrays, "the dict", owner, target, allow_missing, ignore_extra, cast_dtype, dtype_source
        )

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
        self.save_parameters(f"{os.fspath(prefix)}-model.params")
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
        self.load_parameters(f"{os.fspath(prefix)}-model.params")


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
