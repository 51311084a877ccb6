"""Rules of matrix decompositions and transforms, by an engine's methods."""

from collections.abc import Callable
from typing import Any

from npcompat._internal.backend.equations.program import Equation, UnsupportedError
from npcompat._internal.backend.kit.build import Rule

NAMES = (
    "cholesky", "eig", "eigh", "svd", "qr", "lu", "triangular_solve", "fft",
    "lu_pivots_to_permutation", "householder_product", "geqrf",
)  # fmt: skip


def _by_method(engine: Any, equation: Equation) -> Callable[..., Any]:
    method = getattr(engine, f"matrix_{equation.name}", None)
    if method is None:
        raise UnsupportedError(equation.name)
    made: Callable[..., Any] = method(equation)
    return made


RULES: dict[str, Rule] = dict.fromkeys(NAMES, _by_method)


def transform(equation: Equation) -> tuple[str, tuple[int, ...]]:
    """Name of the function of an `fft` over several axes, and its lengths."""
    kind = str(equation.attrs["fft_type"]).rsplit(".", maxsplit=1)[-1].lower()
    kind = {"0": "fft", "1": "ifft", "2": "rfft", "3": "irfft"}.get(kind, kind)
    return f"{kind}n", tuple(equation.attrs["fft_lengths"])


__all__ = ["RULES", "transform"]
