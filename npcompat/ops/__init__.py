"""Operators as objects: with attributes, callable on arrays and symbols, JSON-serializable.

    op = ops.Cumsum(axis=1)
    (y,) = op(x)

Every registered operator has a class here: `_npi_cumsum` is `ops.Cumsum`. Where two would share a
name, the extension's begins with `Npx`. Operators with equal attributes compare equal.
"""

from npcompat._internal.core.tensor_type import TensorType
from npcompat._internal.graph.op_serialization import nearest
from npcompat.ops._classes import Operator, classes, from_json, get
from npcompat.ops._declarations import Declaration
from npcompat.ops._declarations import listed as list

__all__ = ["Declaration", "Operator", "TensorType", "from_json", "get", "list"]


def __getattr__(name: str) -> type[Operator]:
    found = classes().get(name)
    if found is None:
        raise AttributeError(
            f"npcompat.ops has no operator {name!r}{nearest(name, classes())}; ops.list() gives "
            "them all"
        )
    return found


def __dir__() -> tuple[str, ...]:
    return (*__all__, *classes())
