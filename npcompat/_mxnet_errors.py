"""`MXNetError`, for the `except` clauses of programs written for MXNet.

Errors here are Python's and NumPy's, whose classes can't get a new base. `except` takes a tuple,
too; so MXNetError is the tuple of the kinds that npcompat raises, which also makes errors and
subclasses as a class does.
"""

from typing import Any


class _Error(RuntimeError):
    """Error that a program raises as MXNetError."""


_Error.__name__ = _Error.__qualname__ = "MXNetError"


class _Kinds(tuple[type[Exception], ...]):
    """Kinds of errors, and a class where one is called or inherited from."""

    __slots__ = ()

    def __call__(self, *args: Any) -> _Error:
        return _Error(*args)

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        return (_Error,)

    def __repr__(self) -> str:
        return "MXNetError"


MXNetError = _Kinds(
    (
        ArithmeticError,
        AssertionError,
        AttributeError,
        BufferError,
        ImportError,
        LookupError,
        MemoryError,
        OSError,
        RuntimeError,
        TypeError,
        ValueError,
    )
)
"""Kinds of errors that npcompat raises."""

__all__ = ["MXNetError"]
