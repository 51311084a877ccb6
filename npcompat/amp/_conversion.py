"""Conversion of blocks to 16 bits, for prediction."""

import copy
from collections.abc import Iterable, Sequence
from typing import Any

from npcompat._internal.backend.jax import language
from npcompat._internal.core import dtypes
from npcompat.amp._operators import _target
from npcompat.gluon._placement import one_of
from npcompat.gluon.block import HybridBlock
from npcompat.numpy._typing import DTypeLike


class _Narrow(HybridBlock):
    """Wrapper of a block in 16 bits that keeps inputs and outputs in float32."""

    def __init__(self, block: HybridBlock, dtype: Any) -> None:
        super().__init__()
        self.block, self._dtype = block, dtype

    def forward(self, *args: Any) -> Any:
        """Run the block; cast outputs back to float32 where the original block returned float32."""
        return _cast(self.block(*_cast(args, "float32", self._dtype)), self._dtype, "float32")


def _cast(tree: Any, before: Any, after: Any) -> Any:
    """Cast arrays of one dtype in nested containers to another dtype."""
    leaves, structure = language.flatten(tree)
    return language.unflatten(
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
    """Return a copy of a block that predicts in 16 bits.

    Its parameters are cast; inputs and outputs stay float32, as do the statistics of normalization
    layers. For training in mixed precision, use `init`.

    Parameters
    ----------
    block : HybridBlock
        An initialized block.
    data_example : ndarray or list of ndarray, optional
        A batch, on which the copy is compiled at once.
    target_dtype : {'float16', 'bfloat16'}
        The 16-bit dtype.
    target_dtype_ops, fp32_ops, conditional_fp32_ops, excluded_sym_names
        Single operators can't be selected: any value raises NotImplementedError.
    device, ctx : Device or str, optional
        Device of the copy; that of the block if not given.
    cast_params_offline : bool
        A hint to MXNet, without effect: parameters are always cast at once.

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
