"""Base class and registry of initializers."""

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as onp


class InitDesc(str):
    """Name of a parameter to initialize, with attributes.

    Parameters
    ----------
    name : str
        Name of the parameter; its suffix is its kind (`bias`, `gamma`, ...).
    attrs : dict, optional
        `__init__` is the parameter's own initializer.
    global_init : Initializer, optional
        The initializer of the whole block.

    Examples
    --------
    >>> init.InitDesc("dense0_bias").endswith("bias")
    True
    """

    __slots__ = ("attrs", "global_init")
    attrs: dict[str, Any]
    global_init: Any

    def __new__(
        cls, name: str, attrs: Mapping[str, Any] | None = None, global_init: Any = None
    ) -> "InitDesc":
        made = super().__new__(cls, name)
        made.attrs, made.global_init = dict(attrs or {}), global_init
        return made


_REGISTRY: dict[str, type[Any]] = {}
_Class = TypeVar("_Class", bound=type[Any])


def register(klass: _Class) -> _Class:
    """Register an initializer under its class name, in lower case.

    Examples
    --------
    >>> @init.register
    ... class Half(init.Initializer):
    ...     def _init_weight(self, name, arr):
    ...         arr[:] = 0.5
    >>> init.create("half")
    Half()
    """
    _REGISTRY[klass.__name__.lower()] = klass
    return klass


def alias(*names: str) -> Callable[[_Class], _Class]:
    """Register an initializer under further names.

    Examples
    --------
    >>> init.create("zeros")
    Zero()
    """

    def register_names(klass: _Class) -> _Class:
        _REGISTRY.update({name.lower(): klass for name in names})
        return klass

    return register_names


def create(initializer: Any, **kwargs: Any) -> Callable[..., Any]:
    """Create an initializer from a name or the output of `dumps`; initializers are returned.

    Parameters
    ----------
    initializer : str or callable
        A registered name, the text of `dumps()`, or an initializer.
    **kwargs
        Arguments of its class, if it is a name.

    Raises
    ------
    ValueError
        If there is none of that name.

    Examples
    --------
    >>> init.create("normal", sigma=0.5)
    Normal(sigma=0.5)
    """
    if not isinstance(initializer, str):
        if isinstance(initializer, type):
            raise TypeError(
                f"initializer: expected an Initializer, got the class {initializer.__name__}; "
                f"call it: {initializer.__name__}()"
            )
        if not callable(initializer):
            raise TypeError(
                f"initializer: expected an Initializer or a name, got {type(initializer).__name__}"
            )
        return initializer
    if initializer.startswith("["):
        initializer, kwargs = json.loads(initializer)
    klass = _REGISTRY.get(initializer.lower())
    if klass is None:
        raise ValueError(
            f"initializer {initializer!r}: expected one of {', '.join(sorted(_REGISTRY))}"
        )
    return klass(**kwargs)


_BY_NAME = (
    ("bias", "_init_bias"),
    ("gamma", "_init_gamma"),
    ("beta", "_init_beta"),
    ("running_mean", "_init_zero"),
    ("moving_mean", "_init_zero"),
    ("running_var", "_init_one"),
    ("moving_var", "_init_one"),
)


class Initializer:
    """Base class of initializers.

    Called with a name and an array, it writes the array: zero if the name ends in `bias`, `beta` or
    `mean`, one if it ends in `gamma` or `var`; otherwise it calls `_init_weight`, which subclasses
    define.

    Parameters
    ----------
    **kwargs
        Arguments of the subclass, for `repr` and `dumps`.
    """

    _kwargs: Mapping[str, Any] = MappingProxyType({})
    _verbose = False
    _print_func: Callable[[Any], str] | None = None

    def __init__(self, **kwargs: Any) -> None:
        self._kwargs = kwargs

    def set_verbosity(
        self, verbose: bool = False, print_func: Callable[[Any], str] | None = None
    ) -> "Initializer":
        """Set whether each written array is reported.

        The report contains the result of `print_func`, by default the root mean square.
        """
        self._verbose = verbose
        if print_func is not None:
            self._print_func = print_func
        return self

    def dumps(self) -> str:
        """Serialize the initializer to text that `create` accepts."""
        return json.dumps([type(self).__name__.lower(), self._kwargs])

    def __call__(self, desc: str, arr: Any) -> None:
        """Initialize an array in place.

        Parameters
        ----------
        desc : InitDesc or str
            Name of the parameter, and its own initializer.
        arr : ndarray
            The array to write.
        """
        own = desc.attrs.get("__init__") if isinstance(desc, InitDesc) else None
        if own is not None:
            chosen = create(own)
            if isinstance(chosen, Initializer):
                chosen._init_weight(desc, arr)
            else:
                chosen(desc, arr)
        else:
            method = next((m for ending, m in _BY_NAME if desc.endswith(ending)), "_init_weight")
            getattr(self, method)(desc, arr)
        if self._verbose:
            print(
                f"initialized {desc} with {own or self!r}: "
                f"{(self._print_func or _root_mean_square)(arr)}"
            )

    def _init_weight(self, name: str, arr: Any) -> None:
        raise NotImplementedError(f"{type(self).__name__} must define _init_weight(name, arr)")

    def _init_zero(self, name: str, arr: Any) -> None:
        arr[...] = 0

    def _init_one(self, name: str, arr: Any) -> None:
        arr[...] = 1

    _init_bias = _init_beta = _init_zero
    _init_gamma = _init_one

    def __eq__(self, other: object) -> bool:
        return (
            type(self) is type(other)
            and isinstance(other, Initializer)
            and self._kwargs == other._kwargs
        )

    def __hash__(self) -> int:
        return hash((type(self), json.dumps(self._kwargs, default=str)))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in self._kwargs.items())})"


def _root_mean_square(arr: Any) -> str:
    values = arr.asnumpy().astype(onp.float64)
    return (
        f"root mean square {float(onp.sqrt(onp.mean(onp.square(values)))):.6g}"
        if values.size
        else "empty"
    )


__all__ = ["InitDesc", "Initializer", "alias", "create", "register"]
