"""Integers of 64 unsigned bits, which torch's engine carries by their bits in `int64`."""

from typing import Any

from npcompat._internal.backend.kit.torch_namespace import torch

SIGN = -(2**63)
"""The bit that is the sign of `int64`: turned, unsigned numbers compare as signed ones."""


def float_of_unsigned(x: Any) -> Any:
    """Numbers of 64 unsigned bits as floats, rounded once."""
    half = ((x >> 1) & (2**63 - 1)) | (x & 1)  # the last bit counts in rounding
    return torch.where(x < 0, half.to(torch.float64) * 2, x.to(torch.float64))


def unsigned_division(a: Any, b: Any) -> tuple[Any, Any]:
    """Quotient and remainder of numbers of 64 unsigned bits."""
    safe = torch.where(b <= 0, 1, b)
    quotient = torch.div((a >> 1) & (2**63 - 1), safe, rounding_mode="trunc") << 1
    rest = a - quotient * safe
    more = (rest ^ SIGN) >= (safe ^ SIGN)
    quotient, rest = quotient + more, torch.where(more, rest - safe, rest)
    big = (a ^ SIGN) >= (b ^ SIGN)
    quotient = torch.where(b < 0, big.to(torch.int64), quotient)
    rest = torch.where(b < 0, torch.where(big, a - b, a), rest)
    return torch.where(b == 0, -1, quotient), torch.where(b == 0, a, rest)


__all__ = ["SIGN", "float_of_unsigned", "unsigned_division"]
