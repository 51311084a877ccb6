"""Operator classes, created from the declarations."""

import inspect
import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, ClassVar

from npcompat._internal.core.op import REGISTRY, REQUIRED, Op
from npcompat._internal.core.tensor_type import TensorType
from npcompat._internal.dispatch import type_inference
from npcompat._internal.dispatch.apply import apply
from npcompat._internal.graph import op_serialization
from npcompat._internal.support.errors import DefinitionError, OperatorError


class Operator:
    """Operator with its attributes.

    Attributes
    ----------
    name : str
        Its registered name.
    attrs : dict
        All attributes, by name.

    Examples
    --------
    >>> op = ops.Cumsum(axis=1)
    >>> (y,) = op(np.array([[1, 2, 3]]))
    >>> y
    array([[1, 3, 6]])
    >>> op
    Cumsum(axis=1)
    >>> op == ops.from_json(op.to_json())
    True
    """

    __slots__ = ("_attrs",)
    declaration: ClassVar[Op]

    def __init__(self, **attrs: Any) -> None:
        self._attrs = self.declaration.bind(
            **{name: _hashable(value) for name, value in attrs.items()}
        )

    @property
    def name(self) -> str:
        """Registered name of the operator."""
        return self.declaration.name

    @property
    def attrs(self) -> dict[str, Any]:
        """Attributes, by name."""
        return self.declaration.named(self._attrs)

    def __call__(self, *operands: Any) -> tuple[Any, ...]:
        """Apply the operator; returns a tuple.

        Parameters
        ----------
        *operands : array_like or Symbol
            One for each input of the operator. It runs on arrays, is recorded under
            `autograd.record`, and returns symbols for symbols.
        """
        op = self.declaration
        op.check_inputs(len(operands))
        found = apply(op, operands, self._attrs)
        return found if op.outputs != 1 else (found,)

    def infer(self, types: Iterable[Any]) -> type_inference.Inference:
        """Infer the output types for partly known input types.

        Parameters
        ----------
        types : iterable of TensorType
            One for each input; the class of a Python scalar (`float`, for example) stands for a
            scalar.

        Returns
        -------
        Inference
            `inputs`, completed where the others determine them, and `outputs`; both may be partly
            unknown.

        Raises
        ------
        InferenceError
            If no arrays of these types can be operands of one call.

        Examples
        --------
        >>> x = ops.TensorType(("batch", 8), "float32")
        >>> ops.Matmul().infer([x, ops.TensorType((8, 3), "float32")]).outputs
        (TensorType((batch, 3), float32),)
        """
        return type_inference.infer(self.declaration, [_as_type(t) for t in types], self._attrs)

    def definition(self) -> dict[str, Any]:
        """Return name, format version and attributes, as JSON values."""
        return op_serialization.definition(self.declaration, self._attrs)

    def to_json(self) -> str:
        """Serialize the definition to text, which `ops.from_json` reads."""
        return json.dumps(self.definition())

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and repr(other) == repr(self)

    def __hash__(self) -> int:
        return hash((type(self), self._attrs))

    def __repr__(self) -> str:
        op = self.declaration
        pairs = zip(op.attrs.items(), op.named(self._attrs).values(), strict=True)
        given = [
            f"{name}={value!r}"
            for (name, default), value in pairs
            if value is not default and repr(value) != repr(default)
        ]
        return f"{type(self).__name__}({', '.join(given)})"


def _hashable(value: Any) -> Any:
    """Convert lists to tuples, since JSON has only lists."""
    return tuple(map(_hashable, value)) if isinstance(value, list | tuple) else value


def _as_type(given: Any) -> Any:
    if isinstance(given, TensorType | type):
        return given
    if hasattr(given, "shape") and hasattr(given, "dtype"):
        return TensorType(given.shape, given.dtype)
    raise TypeError(
        "infer: expected a TensorType, an array, or the class of a Python scalar, got "
        f"{type(given).__name__}"
    )


@lru_cache(maxsize=1)
def _made(count: int) -> Mapping[str, type[Operator]]:
    found: dict[str, type[Operator]] = {}
    for name, op in sorted(REGISTRY.items()):
        _, prefix, *words = name.split("_")
        title = "".join([word[:1].upper() + word[1:] for word in words])
        if title in found:
            title = prefix.capitalize() + title
        parameters = [
            inspect.Parameter(
                n,
                inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty if d is REQUIRED else d,
            )
            for n, d in op.attrs.items()
        ]
        namespace = {
            "__slots__": (),
            "__doc__": op.doc,
            "__module__": "npcompat.ops",
            "declaration": op,
        }
        found[title] = type(
            title, (Operator,), {**namespace, "__signature__": inspect.Signature(parameters)}
        )
    return found


def classes() -> Mapping[str, type[Operator]]:
    """Return the class of each registered operator, by its name in `npcompat.ops`."""
    return _made(len(REGISTRY))


def get(name: str) -> type[Operator]:
    """Return the class of an operator.

    Parameters
    ----------
    name : str
        Its registered name, such as `_npi_cumsum`, or the name of the class.

    Examples
    --------
    >>> ops.get("_npi_cumsum") is ops.Cumsum
    True
    """
    found = next((c for title, c in classes().items() if name in (title, c.declaration.name)), None)
    if found is None:
        raise OperatorError(
            f"no operator {name!r}{op_serialization.nearest(name, [*classes(), *REGISTRY])}; "
            f"ops.list() gives all {len(REGISTRY)}"
        )
    return found


def from_json(text: str | Mapping[str, Any]) -> Operator:
    """Create an operator from a definition, JSON text or its values.

    Raises
    ------
    DefinitionError
        If it is damaged, or names an operator, an attribute or a version that is not known here.
    """
    try:
        found = json.loads(text) if isinstance(text, str) else text
    except json.JSONDecodeError as error:
        raise DefinitionError(
            f"the definition's JSON ends, or is damaged, at character {error.pos} of {len(text)}: "
            f"{error.msg}"
        ) from error
    except (RecursionError, ValueError) as error:
        raise DefinitionError(f"the definition can't be read: {error}") from error
    op, attrs = op_serialization.from_definition(found)
    return get(op.name)(**op.named(attrs))


__all__ = ["Operator", "classes", "from_json", "get"]
