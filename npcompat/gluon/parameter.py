"""Parameters and ParameterDict: operations on all parameters of a block or a program."""

import difflib
import os
from collections.abc import Mapping
from typing import Any

import numpy as onp

from npcompat import initializer
from npcompat._internal.dispatch.devices import Place
from npcompat._internal.dispatch.meshes import Mesh, Sharding
from npcompat._internal.files import array_file, safetensors_file
from npcompat._internal.support.errors import DeferredInitializationError, ParameterFileError
from npcompat.gluon._constant import Constant
from npcompat.gluon._parameter import (
    Parameter,
    Shape,
    draw_seed,
    once,
)
from npcompat.gluon._placement import Plan, Rules, one_of, place_of
from npcompat.numpy._creation import asarray
from npcompat.numpy._typing import ArrayLike

_ATTRIBUTES = {"allow_deferred_init": "_allow_deferred_init", "differentiable": "_differentiable"}
"""Attribute names of the arguments of `Parameter` that are stored under another name.

`stype` is not stored, since all parameters are dense.
"""


class ParameterDict(dict[str, Parameter]):
    """Dict of parameters by name: the result of `collect_params`.

    In programs without blocks, `get` creates parameters in it.

    Parameters
    ----------
    prefix : str
        Prefix of the names of parameters that `get` creates.
    shared : ParameterDict, optional
        A dict in which `get` looks first; a parameter that is found there is shared by both.

    Examples
    --------
    >>> params = gluon.ParameterDict("net_")
    >>> weight = params.get("weight", shape=(2, 3))
    >>> params.get("weight") is weight is params["net_weight"]
    True
    >>> params.initialize(init.One())
    >>> params.setattr("lr_mult", 0.5)
    >>> weight.lr_mult, weight.data().sum()
    (0.5, np.float32(6.0))
    """

    def __init__(self, prefix: str = "", shared: "ParameterDict | None" = None) -> None:
        for argument, given, kind in (("prefix", prefix, str), ("shared", shared, ParameterDict)):
            if given is not None and not isinstance(given, kind):
                raise TypeError(
                    f"ParameterDict: {argument}: expected a {kind.__name__}, got "
                    f"{type(given).__name__}"
                )
        super().__init__()
        self._prefix, self._shared = prefix, shared
        self._made: set[str] = set()
        self._renamed: dict[str, str] = {}
        self._owner: Any = None  # the block of `collect_params`

    def __missing__(self, name: str) -> Any:
        """Return all parameters of a recurrent layer as one: `params["lstm.rnn_param"]`."""
        path, last = name[: -len("rnn_param")], name[-len("rnn_param") :]
        if self._owner is not None and last == "rnn_param":
            block = self._owner._named_blocks().get(path)
            if hasattr(block, last):
                return block.rnn_param
        raise KeyError(name)

    @property
    def prefix(self) -> str:
        """Prefix of the names of parameters that `get` creates."""
        return self._prefix

    # --- single parameters

    def get(self, name: str, default: Any = None, **kwargs: Any) -> Any:
        """Return the parameter of a name; with keywords, create it if there is none.

        Parameters
        ----------
        name : str
            Its name, without the prefix.
        default : Parameter, optional
            Returned if there is no such parameter, and no keyword is given.
        **kwargs
            Arguments of `Parameter`. If there is one of the name, they must agree with it; lengths
            that were not known in its shape become known.

        Raises
        ------
        ValueError
            If there is one with other arguments.

        Examples
        --------
        >>> params = gluon.ParameterDict()
        >>> params.get("weight", shape=(2, 0), allow_deferred_init=True)
        Parameter weight (shape=(2, -1), dtype=float32)
        >>> params.get("weight", shape=(0, 3))
        Parameter weight (shape=(2, 3), dtype=float32)
        """
        name = self._prefix + name
        found = self._found(name)
        if not kwargs:
            return default if found is None else found
        asked = Parameter(name, **kwargs)
        if found is None:
            found = self._make(asked)
        else:
            _complete(found, asked, kwargs)
        return found

    def get_constant(self, name: str, value: ArrayLike | None = None) -> Parameter:
        """Return the constant of a name; create it from `value` if there is none.

        Parameters
        ----------
        name : str
            Its name, without the prefix.
        value : array_like, optional
            Its values; if there is one of the name, it must have the same.

        Raises
        ------
        ValueError
            If there is none, and no value; or one with another value, or a parameter that is
            learned.
        """
        name = self._prefix + name
        found = self._found(name)
        if found is None:
            if value is None:
                raise ValueError(
                    f"get_constant: there is no constant {name!r}, and no value to make it of"
                )
            found = self._make(Constant(value, name=name))
        elif value is not None:
            if not isinstance(found, Constant):
                raise ValueError(
                    f"get_constant: {name!r} is there already, and is a parameter that is learned"
                )
            _check_same(name, found.value.asnumpy(), value)
        return found

    def _found(self, name: str) -> Parameter | None:
        """Return the parameter of a full name, from this dict or the shared one."""
        found = self._known(name)
        if found is None and self._shared is not None:
            found = self._shared._known(name)
            if found is not None:
                self._made.add(name)
                self[name] = found
        return found

    def _known(self, name: str) -> Parameter | None:
        """Return the parameter of a full name, also if an attribute has another one."""
        found = super().get(name)
        if found is None:
            found = super().get(self._renamed.get(name, ""))
        return found

    def _make(self, parameter: Parameter) -> Parameter:
        self._made.add(parameter.name)
        self[parameter.name] = parameter
        return parameter

    def _assign(self, name: str, parameter: Parameter) -> None:
        """Add a parameter under an attribute's name, which replaces the name that `get` gave it."""
        if super().get(name) is not parameter:
            self._renamed = {made: kept for made, kept in self._renamed.items() if kept != name}
        for made in [n for n in self._made if n in self and self[n] is parameter]:
            self._made.discard(made)
            del self[made]
            self._renamed[made] = name
        self[name] = parameter

    def update(self, other: Mapping[str, Parameter]) -> None:  # type: ignore[override]
        """Add the parameters of another dict.

        Parameters
        ----------
        other : dict of str to Parameter
            The other dict.

        Raises
        ------
        ValueError
            If a name stands for different parameters in the two dicts; nothing is added then.
        """
        both = [
            name
            for name, parameter in other.items()
            if name in self and self[name] is not parameter
        ]
        if both:
            raise ValueError(
                f"ParameterDict.update: {', '.join(both)}: another parameter of that name is "
                "there already"
            )
        super().update(other)

    # --- all of them

    def list_device(self) -> list[Place]:
        """Return the devices of the parameters, each once."""
        return list(
            dict.fromkeys(
                [device for parameter in self.values() for device in parameter.list_device()]
            )
        )

    list_ctx = list_device

    def initialize(
        self,
        init: Any = None,
        device: Any = None,
        verbose: bool = False,
        force_reinit: bool = False,
        *,
        ctx: Any = None,
    ) -> None:
        """Initialize all parameters; the arguments are those of `Block.initialize`."""
        target = place_of(one_of(device, ctx, "initialize"))
        chosen = initializer.create("uniform" if init is None else init)
        if verbose and isinstance(chosen, initializer.Initializer):
            chosen.set_verbosity(True)
        base = draw_seed()
        for i, (name, parameter) in enumerate(once(self).items()):
            parameter._initialize(None, target, chosen, force_reinit, base + i, name)

    def setattr(self, name: str, value: Any) -> None:
        """Set an attribute of all parameters, such as `grad_req` or `lr_mult`."""
        for parameter in self.values():
            if not hasattr(parameter, name):
                known = [n for n in dir(type(parameter)) if not n.startswith("_")]
                near = difflib.get_close_matches(name, known, 1)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                raise AttributeError(
                    f"setattr: Parameter {parameter.name} has no attribute {name!r}{hint}"
                )
        for parameter in self.values():
            setattr(parameter, name, value)

    def zero_grad(self) -> None:
        """Set all gradients to zero."""
        for parameter in self.values():
            parameter.zero_grad()

    def reset_device(self, device: Any) -> None:
        """Move all parameters to another device."""
        place = place_of(device)
        if isinstance(place, Sharding):
            for name, parameter in once(self).items():
                if parameter.shape is not None and parameter.shape_is_known:
                    place.check(parameter.shape, f"reset_device: parameter {name}")
        for parameter in self.values():
            parameter.reset_device(device)

    def shard(
        self, mesh: Mesh, rules: Rules = None, fsdp: str | None = None, least: int = 2**14
    ) -> dict[str, Sharding | None]:
        """Lay all parameters out on a mesh; the arguments are those of `Block.shard`."""
        plan = Plan(mesh, rules, fsdp, least)
        named = once(self)
        plan.check_names(named)
        for name, parameter in named.items():
            if parameter._shape is not None and parameter.shape_is_known:
                plan.place(name, parameter._shape)  # all rules fit, or nothing is moved
        return {name: parameter._shard(plan, name) for name, parameter in named.items()}

    def reset_ctx(self, ctx: Any) -> None:
        """Move all parameters to another device; an alias of `reset_device`."""
        self.reset_device(ctx)

    # --- files

    def save(self, filename: str | os.PathLike[str], strip_prefix: str = "") -> None:
        """Write all parameters to a safetensors file.

        An interruption leaves an older file as it was.

        Parameters
        ----------
        filename : path
            The file.
        strip_prefix : str
            Prefix that is removed from the names; all must begin with it.

        Raises
        ------
        RuntimeError
            If a parameter has no values yet.

        Examples
        --------
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "net.params")
        >>> one, other = gluon.ParameterDict("one_"), gluon.ParameterDict("other_")
        >>> one.get("weight", shape=(1, 2)).initialize(init.One())
        >>> one.save(path, strip_prefix="one_")
        >>> weight = other.get("weight", shape=(1, 2))
        >>> other.load(path, restore_prefix="other_")
        >>> weight.data()
        array([[1., 1.]])
        """
        self._check_begin(strip_prefix, "save", "strip_prefix")
        safetensors_file.save(
            filename,
            {name.removeprefix(strip_prefix): p.data().asnumpy() for name, p in self.items()},
        )

    def load(
        self,
        filename: str | os.PathLike[str],
        device: Any = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
        restore_prefix: str = "",
        cast_dtype: bool = False,
        dtype_source: str = "current",
        *,
        ctx: Any = None,
    ) -> None:
        """Load all parameters from a file; nothing is changed unless everything fits.

        Parameters
        ----------
        filename : path
            A file of any format that `Block.load_parameters` reads.
        restore_prefix : str
            Prefix that is added to the names in the file; all names of the dict must begin with it.
        device, ctx, allow_missing, ignore_extra, cast_dtype, dtype_source
            As for `Block.load_parameters`.

        Raises
        ------
        ParameterFileError
            If the file is damaged, or does not fit: names, shapes and dtypes that differ are
            listed.
        """
        self._check_begin(restore_prefix, "load", "restore_prefix")
        arrays = {
            restore_prefix + name: array for name, array in array_file.read_named(filename).items()
        }
        where = ("dict", type(self).__name__)
        self._take(
            arrays,
            os.fspath(filename),
            where,
            one_of(device, ctx, "load"),
            allow_missing,
            ignore_extra,
            cast_dtype,
            dtype_source,
        )

    def _check_begin(self, prefix: str, function: str, argument: str) -> None:
        others = [name for name in self if not name.startswith(prefix)]
        if others:
            raise ValueError(
                f"ParameterDict.{function}({argument}={prefix!r}): these names begin otherwise: "
                f"{', '.join(others)}"
            )

    def _take(
        self,
        arrays: Mapping[str, Any],
        source: str,
        owner: tuple[str, str],
        device: Any,
        allow_missing: bool,
        ignore_extra: bool,
        cast_dtype: bool,
        dtype_source: str,
    ) -> None:
        """Store values if they fit.

        `owner` is the kind of the parameters' owner, such as "block", and its class; errors mention
        it.
        """
        if dtype_source not in ("current", "saved"):
            raise ValueError(f"dtype_source must be 'current' or 'saved', got {dtype_source!r}")
        target = place_of(device)
        here = owner[0]
        differences = (
            []
            if allow_missing
            else [
                f"{n}: a parameter of the {here}, missing there"
                for n in self._under_no_name(arrays)
            ]
        )
        differences += (
            []
            if ignore_extra
            else [f"{n}: not a parameter of the {here}" for n in sorted(arrays) if n not in self]
        )
        fitting = {n: p for n, p in self.items() if n in arrays}
        differences += [
            f"{n}: has shape {tuple(arrays[n].shape)} there, {p.shape} in the {here}"
            for n, p in fitting.items()
            if not p._accepts(arrays[n].shape)
        ]
        if not cast_dtype:
            differences += [
                f"{n}: has dtype {arrays[n].dtype} there, {p.dtype} in the {here} "
                "(cast_dtype=True casts)"
                for n, p in fitting.items()
                if p.dtype != arrays[n].dtype
            ]
        if differences:
            listed = "\n  ".join(differences)
            raise ParameterFileError(
                f"parameters of {source} do not fit {owner[1]}; nothing was loaded:\n  {listed}"
            )
        for name, parameter in fitting.items():
            if dtype_source == "saved":
                parameter.cast(arrays[name].dtype)
            parameter._load(arrays[name], target)

    def _under_no_name(self, arrays: Mapping[str, Any]) -> list[str]:
        """Return names of parameters for which there is no array under any of their names."""
        present = {id(p) for n, p in self.items() if n in arrays}
        return [n for n, p in self.items() if id(p) not in present]


def _complete(found: Parameter, asked: Parameter, arguments: Mapping[str, Any]) -> None:
    """Check that a parameter agrees with given arguments, and complete its unknown attributes."""
    shape = _joined(found.shape, asked.shape)
    agreement = {
        "shape": shape is not None or found.shape is None,
        "init": None in (found.init, asked.init)
        or initializer.create(found.init) == initializer.create(asked.init),
    }
    for argument in arguments:
        attribute = _ATTRIBUTES.get(argument, argument)
        if not agreement.get(
            argument, getattr(found, attribute, None) == getattr(asked, attribute, None)
        ):
            raise ValueError(
                f"Parameter '{found.name}' is there already, and has "
                f"{argument}={getattr(found, attribute)!r}; "
                f"{argument}={arguments[argument]!r} was asked for"
            )
    found._shape = shape
    found.init = asked.init if found.init is None else found.init


def _joined(one: Shape, other: Shape) -> Shape:
    """Unify two partly known shapes; None if nothing is known, or they contradict each other."""
    if one is None or other is None:
        return other if one is None else one
    lengths = [max(a, b) for a, b in zip(one, other, strict=False) if -1 in (a, b) or a == b]
    return tuple(lengths) if len(lengths) == len(one) == len(other) else None


def _check_same(name: str, constant: Any, value: ArrayLike) -> None:
    """Check that a constant has a given value."""
    if not onp.array_equal(
        constant, asarray(value).asnumpy(), equal_nan=constant.dtype.kind in "fc"
    ):
        raise ValueError(
            f"get_constant: the constant {name!r} is there already, and has another value"
        )


__all__ = ["Constant", "DeferredInitializationError", "Parameter", "ParameterDict"]
