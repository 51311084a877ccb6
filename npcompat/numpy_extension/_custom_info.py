"""Registration of custom operators: inputs, outputs, allowed types, attributes, targets."""

import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from npcompat._internal.core import dtypes
from npcompat._internal.support.errors import OperatorError

TARGETS = ("CPU", "GPU", "TPU", "Ascend")
DEFAULT_FORMATS = ("DefaultFormat", "ND")
_VALUE_TYPES: Mapping[str, Any] = {"int": int, "float": (int, float), "bool": bool, "str": str}
_SCALARS: Mapping[str, Callable[[str], Any]] = {
    "int": int,
    "float": float,
    "bool": lambda text: text == "true",
    "str": str,
}
_F = TypeVar("_F", bound=Callable[..., Any])
_registered: "weakref.WeakKeyDictionary[Any, list[dict[str, Any]]]" = weakref.WeakKeyDictionary()


class CustomRegOp:
    """Builder of the registration of a custom operator; every method returns the builder.

    Parameters
    ----------
    op_name : str
        A name, for errors.

    Examples
    --------
    >>> info = npx.CustomRegOp("Scale").input(0, "x").output(0, "y")
    >>> info = info.attr("by", "optional", "float", default_value=1.0)
    >>> info = info.dtype_format("float32", "float32").dtype_format("float16", "float16")
    >>> info = info.target("CPU").get_op_info()
    >>> info["dtype_format"][0]
    (('float32', 'DefaultFormat'), ('float32', 'DefaultFormat'))
    """

    def __init__(self, op_name: str = "Custom") -> None:
        self._name = op_name
        self._inputs: list[dict[str, Any]] = []
        self._outputs: list[dict[str, Any]] = []
        self._attrs: list[dict[str, Any]] = []
        self._formats: list[tuple[tuple[str, str], ...]] = []
        self._target: str | None = None

    def input(self, index: int, name: str, param_type: str = "required") -> "CustomRegOp":
        """Declare the next input.

        Parameters
        ----------
        index : int
            Its position: inputs are declared in order, from 0 on.
        name : str
            Its name.
        param_type : str
            'required' or 'optional'; inputs after an optional one are optional, too.
        """
        return self._declare(self._inputs, "input", index, name, param_type)

    def output(self, index: int, name: str, param_type: str = "required") -> "CustomRegOp":
        """Declare the next output, as `input` does."""
        return self._declare(self._outputs, "output", index, name, param_type)

    def _declare(
        self, table: list[dict[str, Any]], what: str, index: int, name: str, param_type: str
    ) -> "CustomRegOp":
        if index != len(table):
            raise ValueError(
                f"{self._name}: {what} {name!r}: expected index {len(table)}, as {what}s are "
                f"declared in order, got {index}"
            )
        self._check_new(table, what, name, param_type)
        if param_type == "required" and table and table[-1]["param_type"] == "optional":
            raise ValueError(
                f"{self._name}: {what} {name!r} is required, but follows the optional {what} "
                f"{table[-1]['name']!r}"
            )
        table.append({"index": index, "name": name, "param_type": param_type})
        return self

    def _check_new(
        self, table: Sequence[Mapping[str, Any]], what: str, name: str, param_type: str
    ) -> None:
        if param_type not in ("required", "optional"):
            raise ValueError(
                f"{self._name}: {what} {name!r}: param_type: expected 'required' or 'optional', "
                f"got {param_type!r}"
            )
        if name in [entry["name"] for entry in table]:
            raise ValueError(f"{self._name}: {what} {name!r} is declared twice")

    def dtype_format(self, *args: Any) -> "CustomRegOp":
        """Allow one combination of types.

        Parameters
        ----------
        *args : str or tuple of str
            For each input, then each output: a dtype, or a pair of dtype and format, such as
            `npx.DataType.F32_NCHW`. A format of letters (``"NCHW"``) asks for as many axes;
            ``"DefaultFormat"`` and ``"ND"`` take any.
        """
        self._formats.append(tuple([self._pair(a) for a in args]))
        return self

    def _pair(self, given: Any) -> tuple[str, str]:
        if isinstance(given, tuple) and len(given) == 2:
            dtype, layout = given
        else:
            dtype, layout = given, "DefaultFormat"
        if layout not in DEFAULT_FORMATS and not (
            isinstance(layout, str) and layout.isalpha() and layout.isupper()
        ):
            expected = f"{', '.join(DEFAULT_FORMATS)}, or a letter for each axis, such as 'NCHW'"
            raise ValueError(
                f"{self._name}: dtype_format: unknown format {layout!r}; expected {expected}"
            )
        return dtypes.canonical(dtype).name, layout

    def attr(
        self,
        name: str,
        param_type: str = "required",
        value_type: str | None = None,
        value: Any = "all",
        default_value: Any = None,
    ) -> "CustomRegOp":
        """Declare an attribute, which a call passes by name, or after the inputs.

        Parameters
        ----------
        name : str
            Its name, which is that of the function's parameter.
        param_type : str
            'required' or 'optional'.
        value_type : str, optional
            'int', 'float', 'bool', 'str', or one of these after 'list', such as 'listInt'.
        value : str or sequence
            The values that are allowed: 'all', a sequence, or a text with commas.
        default_value : scalar or sequence, optional
            Default of an optional attribute.
        """
        self._check_new(self._attrs, "attribute", name, param_type)
        element = None if value_type is None else _element_of(value_type)
        if element is not None and element not in _VALUE_TYPES:
            expected = ", ".join([*_VALUE_TYPES, *[f"list{t.capitalize()}" for t in _VALUE_TYPES]])
            raise ValueError(
                f"{self._name}: attribute {name!r}: value_type: expected one of {expected}, got "
                f"{value_type!r}"
            )
        allowed = None
        if isinstance(value, str) and value != "all":
            allowed = tuple([_SCALARS[element or "str"](part.strip()) for part in value.split(",")])
        elif not isinstance(value, str):
            allowed = tuple(value) if isinstance(value, list | tuple) else (value,)
        entry = {
            "name": name,
            "param_type": param_type,
            "value_type": value_type,
            "value": allowed,
            "default_value": default_value,
        }
        if default_value is not None:
            _check_attr(self._name, entry, hashable(default_value))
        self._attrs.append(entry)
        return self

    def target(self, target: str) -> "CustomRegOp":
        """Set the target of this registration: 'CPU', 'GPU', 'TPU' or 'Ascend'; all by default."""
        if target not in TARGETS:
            raise ValueError(
                f"{self._name}: target: expected one of {', '.join(TARGETS)}, got {target!r}"
            )
        if self._target is not None:
            raise ValueError(f"{self._name}: target is {self._target} already")
        self._target = target
        return self

    def get_op_info(self) -> dict[str, Any]:
        """Return the registration as a dict."""
        least = sum([e["param_type"] == "required" for e in (*self._inputs, *self._outputs)])
        most = len(self._inputs) + len(self._outputs)
        for combination in self._formats:
            if not least <= len(combination) <= most or (
                len(combination) != most and len(self._outputs) != 1 and least != most
            ):
                raise ValueError(
                    f"{self._name}: dtype_format{combination}: expected {most} entries, for "
                    f"{len(self._inputs)} inputs and "
                    f"{len(self._outputs)} outputs, got {len(combination)}"
                )
        return {
            "op_name": self._name,
            "inputs": list(self._inputs),
            "outputs": list(self._outputs),
            "attr": list(self._attrs),
            "dtype_format": list(self._formats),
            "target": self._target,
        }


def _element_of(value_type: str) -> str:
    return value_type[4:].lower() if value_type.startswith("list") else value_type


class DataType:
    """Pairs of dtype and format for `CustomRegOp.dtype_format`.

    ``F32_Default`` is float32 in any format; ``Default`` may be replaced by the letters of a
    layout.

    Examples
    --------
    >>> npx.DataType.F32_Default, npx.DataType.F16_NCHW
    (('float32', 'DefaultFormat'), ('float16', 'NCHW'))
    """


_SHORT = {
    "BOOL": "bool", "I8": "int8", "I16": "int16", "I32": "int32", "I64": "int64",
    "U8": "uint8", "U16": "uint16", "U32": "uint32", "U64": "uint64",
    "F16": "float16", "BF16": "bfloat16", "F32": "float32", "F64": "float64",
    "C64": "complex64", "C128": "complex128",
}  # fmt: skip
for _short, _dtype in _SHORT.items():
    for _suffix, _format in (
        ("Default", "DefaultFormat"),
        ("NCHW", "NCHW"),
        ("NHWC", "NHWC"),
        ("ND", "ND"),
    ):
        setattr(DataType, f"{_short}_{_suffix}", (_dtype, _format))


def custom_info_register(*reg_info: Any) -> Callable[[_F], _F]:
    """Decorate the function of a custom operator with registrations.

    Parameters
    ----------
    *reg_info : dict or CustomRegOp
        One for each target; a target is registered once for a function.

    Examples
    --------
    >>> info = npx.CustomRegOp("Double").input(0, "x").output(0, "y")
    >>> info = info.dtype_format("float32", "float32").get_op_info()
    >>> @npx.custom_info_register(info)
    ... def double(x):
    ...     return x * 2
    >>> npx.Custom(double)(np.array([1.0, 2.0]))
    array([2., 4.])
    """

    def attach(function: _F) -> _F:
        _registered[function] = checked([*_registered.get(function, []), *map(as_info, reg_info)])
        return function

    return attach


def registered(function: Any) -> list[dict[str, Any]]:
    """Return the registrations that decorators attached to a function."""
    try:
        return _registered.get(function, [])
    except TypeError:  # a path, or a callable without weak references
        return []


def as_info(given: Any) -> dict[str, Any]:
    """Return a registration as a dict."""
    if isinstance(given, CustomRegOp):
        return given.get_op_info()
    if (
        not isinstance(given, dict)
        or not {"op_name", "inputs", "outputs", "attr", "dtype_format", "target"} <= given.keys()
    ):
        raise TypeError(
            "registration information is what CustomRegOp(...).get_op_info() returns, got "
            f"{given!r}"
        )
    return given


def checked(infos: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the registrations, if no two have the same target."""
    targets = [info["target"] for info in infos]
    for target in targets:
        if targets.count(target) > 1:
            shown = "without a target" if target is None else f"for target {target}"
            raise ValueError(f"{infos[0]['op_name']}: information {shown} is registered twice")
    return infos


def chosen(name: str, infos: Sequence[dict[str, Any]], target: str) -> dict[str, Any] | None:
    """Return the registration of a target; None if nothing is registered at all."""
    for wanted in (target, None):
        for info in infos:
            if info["target"] == wanted:
                return info
    if infos:
        raise OperatorError(
            f"{name} is registered for {', '.join([i['target'] for i in infos])}, but the inputs "
            f"are on {target}"
        )
    return None


def bound_attrs(name: str, info: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of a call, checked and completed by defaults."""
    declared = {entry["name"]: entry for entry in info["attr"]}
    unknown = given.keys() - declared.keys()
    if unknown:
        raise OperatorError(
            f"{name} has no attribute {', '.join(sorted(unknown))}; it has "
            f"{', '.join(declared) or 'none'}"
        )
    found = {}
    for key, entry in declared.items():
        if key in given:
            found[key] = given[key]
            _check_attr(name, entry, given[key])
        elif entry["default_value"] is not None:
            found[key] = hashable(entry["default_value"])
        elif entry["param_type"] == "required":
            raise OperatorError(f"{name}: attribute {key} is required")
    return found


def _check_attr(name: str, entry: Mapping[str, Any], value: Any) -> None:
    kind, allowed = entry["value_type"], entry["value"]
    if kind is not None:
        listed = kind.startswith("list")
        expected = _VALUE_TYPES[_element_of(kind)]
        elements = value if listed and isinstance(value, tuple) else (value,)
        right = all(
            [
                isinstance(v, expected) and (expected is bool or not isinstance(v, bool))
                for v in elements
            ]
        )
        if not right or listed != isinstance(value, tuple):
            raise OperatorError(
                f"{name}: attribute {entry['name']}: expected {kind}, got {value!r}"
            )
    if allowed is not None and value not in allowed:
        raise OperatorError(
            f"{name}: attribute {entry['name']}: expected one of {', '.join(map(repr, allowed))}, "
            f"got {value!r}"
        )


def hashable(value: Any) -> Any:
    """Return an attribute's value, with lists as tuples."""
    return tuple(value) if isinstance(value, list) else value


def check_types(
    name: str,
    info: Mapping[str, Any],
    types: Sequence[tuple[Any, Any]],
    outs: Sequence[tuple[Any, Any]] = (),
) -> None:
    """Raise OperatorError unless a declared combination allows these types.

    Types are (shape, dtype) of inputs and outputs; unknown ones are None.
    """
    required = sum([e["param_type"] == "required" for e in info["inputs"]])
    if not required <= len(types) <= len(info["inputs"]):
        names = ", ".join([f"{e['name']} ({e['param_type']})" for e in info["inputs"]])
        raise OperatorError(
            f"{name}: expected the inputs {names or 'none'}; {len(types)} are given"
        )
    if not info["dtype_format"] or any(
        [_allows(c, types, outs, len(info["outputs"])) for c in info["dtype_format"]]
    ):
        return
    table = "\n".join(
        ["  " + ", ".join([f"{d} {layout}" for d, layout in c]) for c in info["dtype_format"]]
    )
    given = ", ".join([f"{d}{list(s) if s is not None else '?'}" for s, d in (*types, *outs)])
    header = ", ".join([e["name"] for e in (*info["inputs"], *info["outputs"])])
    what = "inputs and outputs" if outs else "inputs"
    raise OperatorError(
        f"{name}: no registered combination allows the {what} {given}; allowed are, for "
        f"{header}:\n{table}"
    )


def _allows(
    combination: Sequence[tuple[str, str]], types: Sequence[Any], outs: Sequence[Any], outputs: int
) -> bool:
    operands = [
        *zip(types, combination, strict=False),
        *zip(outs, combination[len(combination) - outputs :], strict=False),
    ]
    return all(
        [_fits(shape, dtype, expected, layout) for (shape, dtype), (expected, layout) in operands]
    )


def _fits(shape: Any, dtype: Any, expected: str, layout: str) -> bool:
    if dtype is not None and dtypes.canonical(dtype).name != expected:
        return False
    return layout in DEFAULT_FORMATS or shape is None or len(shape) == len(layout)


__all__ = ["CustomRegOp", "DataType", "custom_info_register"]
