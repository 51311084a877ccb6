"""Blocks in 16 bits, for prediction."""

import copy
from collections.abc import Iterable, Sequence
from typing import Any

from npcompat._internal.backend.jax import runtime as xla
from npcompat._internal.core import dtypes
from npcompat.amp._operators import _target
from npcompat.gluon._parameter import one_of
from npcompat.gluon.block import HybridBlock
from npcompat.numpy._typing import DTypeLike


class _Narrow(HybridBlock):
    """A block in 16 bits, with inputs and outputs as the one it was made of."""

    def __init__(self, block: HybridBlock, dtype: Any) -> None:
        super().__init__()
        self.block, self._dtype = block, dtype

    def forward(self, *args: Any) -> Any:
        """What the block gives, in float32 where it would give that."""
        return _cast(self.block(*_cast(args, "float32", self._dtype)), self._dtype, "float32")


def _cast(tree: Any, before: Any, after: Any) -> Any:
    """Containers of arrays, with those of one dtype cast to another."""
    leaves, structure = xla.flatten(tree)
    return xla.unflatten(
        structure, [a.astype(after) if getattr(a, "dtype", None) == before else a for a in leaves]
    )


def convert_hybrid_block(
    block: HybridBlock,
    data_example: Any = None,
    target_dtype: DTypeLike = "float16",
    target_dtype_ops: Iterable[str] | None = None,
    fp32_ops: Iterable[str] | None = None,
    conditional_fp32_ops: Sequence[Any] | None = None,
    excluded_sym_names: Sequence[str] = (),
    device: Any = None,
    cast_params_offline: bool = False,
    *,
    ctx: Any = None,
) -> HybridBlock:
    """A copy of a block that predicts in 16 bits: its parameters are cast, and what goes in and
    comes out stays float32.

    Statistics of normalization layers stay float32.  For training in mixed precision, use `init`.

    Parameters
    ----------
    block : HybridBlock
        An initialized block.
    data_example : ndarray or list of ndarray, optional
        A batch, on which the copy is compiled at once.
    target_dtype : {'float16', 'bfloat16'}
        The dtype of 16 bits.
    target_dtype_ops, fp32_ops, conditional_fp32_ops, excluded_sym_names
        Single operators can't be chosen: anything given raises NotImplementedError.
    device, ctx : Device or str, optional
        Where the copy is placed; where the block is if not given.
    cast_params_offline : bool
        A hint to MXNet, which changes nothing: parameters are always cast at once.

    Examples
    --------
    >>> from npcompat import amp
    >>> net = nn.Dense(2, in_units=3)
    >>> net.initialize()
    >>> half = amp.convert_hybrid_block(net, target_dtype="bfloat16")
    >>> half(np.ones((1, 3))).dtype
    dtype('float32')
    >>> net.weight.dtype
    dtype('float32')
    """
    chosen = {
        "target_dtype_ops": target_dtype_ops,
        "fp32_ops": fp32_ops,
        "conditional_fp32_ops": conditional_fp32_ops,
        "excluded_sym_names": tuple(excluded_sym_names) or None,
    }
    for argument, value in chosen.items():
        if value is not None:
            raise NotImplementedError(
                f"convert_hybrid_block({argument}=...): single operators can't be chosen; "
                "amp.init can"
            )
    if not isinstance(block, HybridBlock):
        raise TypeError(f"convert_hybrid_block: expected a HybridBlock, got {type(block).__name__}")
    target = _target(target_dtype)
    inner = copy.deepcopy(block)
    inner.cast(target)
    place = one_of(device, ctx, "convert_hybrid_block")
    if place is not None:
        inner.reset_device(place)
    converted = _Narrow(inner, dtypes.canonical(target))
    converted.hybridize()
    if data_example is not None:
        converted(*(data_example if isinstance(data_example, list | tuple) else [data_example]))
    return converted


__all__ = ["convert_hybrid_block"]
