"""Containers of transforms: in sequence, at random; and casts."""

from collections.abc import Callable, Sequence
from typing import Any

import npcompat.numpy as np
from npcompat._internal.core import dtypes
from npcompat.gluon.block import Block, HybridBlock
from npcompat.gluon.nn import HybridSequential, Lambda, Sequential
from npcompat.numpy import random
from npcompat.numpy._typing import DTypeLike
from npcompat.numpy_extension._image_layout import on_backend_of


def _blocks(transforms: Any, what: str) -> list[Block]:
    """Return transforms as blocks; functions are wrapped."""
    found = list(transforms) if isinstance(transforms, Sequence) else [transforms]
    if not all(map(callable, found)):
        raise TypeError(
            f"{what}: expected transforms, got "
            f"{next(type(t).__name__ for t in found if not callable(t))}"
        )
    return [t if isinstance(t, Block) else Lambda(t) for t in found]


def _hybrid_blocks(transforms: Any, what: str) -> list[Block]:
    found = list(transforms) if isinstance(transforms, Sequence) else [transforms]
    for t in found:
        if not isinstance(t, HybridBlock):
            raise TypeError(
                f"{what}: expected blocks that can be compiled, HybridBlocks, got "
                f"{type(t).__name__}"
            )
    return found


class Compose(Sequential):
    """Sequence of transforms.

    Nothing is compiled unless `hybridize` is called: single images stay on the host, where they are
    cheapest.

    Parameters
    ----------
    transforms : sequence of callable
        Blocks, or functions.

    Examples
    --------
    >>> transforms = gluon.data.vision.transforms
    >>> steps = [transforms.Resize(8), transforms.ToTensor(), transforms.Normalize(0.5, 0.5)]
    >>> to_input = transforms.Compose(steps)
    >>> to_input(np.zeros((20, 30, 3), dtype="uint8")).shape
    (3, 8, 8)
    """

    def __init__(self, transforms: Sequence[Callable[..., Any]]) -> None:
        super().__init__()
        self.add(*_blocks(transforms, "Compose"))


class HybridCompose(HybridSequential):
    """Sequence of transforms, compiled to one program for each input shape.

    Parameters
    ----------
    transforms : sequence of HybridBlock
        The transforms.

    Examples
    --------
    >>> transforms = gluon.data.vision.transforms
    >>> to_input = transforms.HybridCompose([transforms.CenterCrop(8), transforms.ToTensor()])
    >>> to_input(np.zeros((2, 20, 30, 3), dtype="uint8")).shape
    (2, 3, 8, 8)
    """

    def __init__(self, transforms: Sequence[HybridBlock]) -> None:
        super().__init__()
        self.add(*_hybrid_blocks(transforms, "HybridCompose"))
        self.hybridize()


class Cast(HybridBlock):
    """Cast to a dtype.

    Parameters
    ----------
    dtype : dtype
        The dtype.

    Examples
    --------
    >>> gluon.data.vision.transforms.Cast("float16")(np.ones(2)).dtype
    dtype('float16')
    """

    def __init__(self, dtype: DTypeLike = "float32") -> None:
        super().__init__()
        self._dtype = dtypes.canonical(dtype)

    def forward(self, *args: Any) -> Any:
        """Cast the inputs."""
        cast = tuple(np.asarray(x).astype(self._dtype) for x in args)
        return cast[0] if len(cast) == 1 else cast


def _probability(p: float, what: str) -> float:
    if not 0 <= p <= 1:
        raise ValueError(f"{what}: p is a probability, got {p}")
    return float(p)


class RandomApply(Sequential):
    """Apply transforms, all or none, with a probability.

    Parameters
    ----------
    transforms : callable or sequence of callable
        The transforms.
    p : float
        The probability.

    Examples
    --------
    >>> transforms = gluon.data.vision.transforms
    >>> transforms.RandomApply(transforms.CenterCrop(2), p=1)(np.zeros((4, 4, 3))).shape
    (2, 2, 3)
    """

    def __init__(self, transforms: Any, p: float = 0.5) -> None:
        super().__init__()
        self._p = _probability(p, "RandomApply")
        self.add(*_blocks(transforms, "RandomApply"))

    def forward(self, x: Any, *args: Any) -> Any:
        """Return the transformed input, or the input."""
        return (
            super().forward(x, *args) if random.uniform() < self._p else (x, *args) if args else x
        )


class HybridRandomApply(HybridSequential):
    """Apply transforms, all or none, with a probability; can be compiled.

    The transforms are computed in any case, and must keep shape and dtype.

    Parameters
    ----------
    transforms : HybridBlock or sequence of HybridBlock
        The transforms.
    p : float
        The probability.

    Examples
    --------
    >>> transforms = gluon.data.vision.transforms
    >>> flip = transforms.HybridRandomApply(transforms.RandomFlipLeftRight(1), p=1)
    >>> flip(np.arange(2).reshape(1, 2, 1)).ravel()
    array([1, 0])
    """

    def __init__(self, transforms: Any, p: float = 0.5) -> None:
        super().__init__()
        self._p = _probability(p, "HybridRandomApply")
        self.add(*_hybrid_blocks(transforms, "HybridRandomApply"))

    def forward(self, x: Any, *args: Any) -> Any:
        """Return the transformed input, or the input.

        With further inputs, returns a tuple of it and of the unchanged others.
        """
        with on_backend_of(x):
            chosen = random.uniform() < self._p
            changed = super().forward(x)
            if changed.shape != x.shape or changed.dtype != x.dtype:
                raise ValueError(
                    "HybridRandomApply: the transforms must keep shape and dtype, but made "
                    f"{changed.shape} {changed.dtype} "
                    f"of {x.shape} {x.dtype}; RandomApply takes any"
                )
            found = np.where(chosen, changed, x)
        return (found, *args) if args else found


__all__ = ["Cast", "Compose", "HybridCompose", "HybridRandomApply", "RandomApply"]
