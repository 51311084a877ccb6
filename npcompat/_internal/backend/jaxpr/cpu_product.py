"""Products of matrices in the forms that XLA's CPU compiler computes fast.

- A product of few rows and a large matrix of float32: one of XLA's libraries arranges the whole
  matrix anew at each call, which takes up to 20 times as long as the product. It leaves the product
  of the large matrix and few columns to another library, which does not, so the operands change
  places.
- A product of a transposed matrix and a vector: XLA walks the matrix against its layout, which takes
  up to 14 times as long as the product of the vector and the matrix.
- A product of one row and a transposed matrix: XLA transposes the matrix in memory first, which
  takes up to 20 times as long as the product along the matrix's other axis.
"""

from collections.abc import Callable, Mapping
from typing import Any

from jax import lax

from npcompat._internal.backend.jaxpr.compat import JaxprEqn, Var

FEW_ROWS = range(2, 128)
"""Numbers of rows for which XLA's library may arrange a large matrix anew."""
LARGE = 1 << 16
"""Minimum number of elements of a large matrix."""


def faster(
    equation: JaxprEqn, made: Mapping[Var, JaxprEqn]
) -> tuple[Callable[[Any, Any], Any], list[Any]] | None:
    """Return a faster function for the product of an equation, and its operands; None if there is
    none.
    """
    (left, right), batch = equation.params["dimension_numbers"]
    a: Any
    b: Any
    a, b = equation.invars
    sizes = (*a.aval.shape, *b.aval.shape)
    if batch != ((), ()) or len(left) != 1 or not all([type(n) is int for n in sizes]):
        return None
    if (a.aval.ndim, b.aval.ndim) == (2, 1):
        matrix, axis = _untransposed(a, left[0], made)
        if axis == 0 and matrix.aval.size >= LARGE:
            return _Product(equation.params, (axis,), right, True), [matrix, b]
        return None
    if b.aval.size < LARGE or a.aval.ndim < 2:
        return None
    rows = a.aval.size // a.aval.shape[left[0]]
    if rows == 1 and b.aval.ndim == 2:
        matrix, axis = _untransposed(b, right[0], made)
        return (
            None if matrix is b else (_Product(equation.params, left, (axis,), False), [a, matrix])
        )
    columns = b.aval.size // b.aval.shape[right[0]]
    if rows in FEW_ROWS and rows < columns and a.aval.dtype == b.aval.dtype == "float32":
        return _Product(equation.params, left, right, True), [a, b]
    return None


def _untransposed(matrix: Any, axis: int, made: Mapping[Var, JaxprEqn]) -> tuple[Any, int]:
    """Return the matrix of which this one is a transpose, and the number of the axis in it."""
    while isinstance(matrix, Var) and matrix in made:
        equation = made[matrix]
        if equation.primitive.name != "transpose":
            break
        matrix, axis = equation.invars[0], equation.params["permutation"][axis]
    return matrix, axis


class _Product:
    """Product a @ b along one axis of each; computed as (b.T @ a.T).T if it is swapped."""

    def __init__(
        self, params: Any, left: tuple[int, ...], right: tuple[int, ...], swapped: bool
    ) -> None:
        self.params, self.left, self.right, self.swapped = params, left, right, swapped

    def __call__(self, a: Any, b: Any) -> Any:
        precision, kind = self.params["precision"], self.params["preferred_element_type"]
        if not self.swapped:
            return lax.dot_general(a, b, ((self.left, self.right), ((), ())), precision, kind)
        if isinstance(precision, tuple):
            precision = precision[::-1]
        found = lax.dot_general(b, a, ((self.right, self.left), ((), ())), precision, kind)
        return lax.transpose(found, (*range(b.ndim - 1, found.ndim), *range(b.ndim - 1)))


__all__ = ["FEW_ROWS", "LARGE", "faster"]
