"""How floating-point errors are handled: as NumPy does on the host; XLA computes on without a word."""

from contextlib import AbstractContextManager
from typing import Any

import numpy as onp


def errstate(*, call: Any = None, all: str | None = None, divide: str | None = None, over: str | None = None, under: str | None = None, invalid: str | None = None) -> AbstractContextManager[Any]:
    """A context in which floating-point errors are handled otherwise.

    Parameters
    ----------
    all, divide, over, under, invalid : {'ignore', 'warn'}, optional
        What to do.  XLA never warns; on the host, NumPy's own handling applies.  Other ways raise NotImplementedError.
    call : None
        Not supported.

    Examples
    --------
    >>> with np.errstate(divide="ignore"):
    ...     np.array([1.0]) / 0
    array([inf])
    """
    chosen = {"all": all, "divide": divide, "over": over, "under": under, "invalid": invalid}
    chosen = {k: v for k, v in chosen.items() if v is not None}
    for name, how in chosen.items():
        if how not in ("ignore", "warn"):
            raise NotImplementedError(f"errstate({name}={how!r}): only 'ignore' and 'warn' are supported")
    if call is not None:
        raise NotImplementedError("errstate(call=...): not supported")
    return onp.errstate(**chosen)  # type: ignore[arg-type]


__all__ = ["errstate"]
