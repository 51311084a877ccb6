"""Containers: blocks called in sequence or in parallel, and functions as blocks."""

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import npcompat.numpy as np
import npcompat.numpy_extension as npx
from npcompat.gluon.block import Block, HybridBlock
from npcompat.numpy._ndarray import ndarray


class Stack(Block):
    """Base class of sequential containers."""

    def add(self, *blocks: Block) -> None:
        """Append blocks."""
        for block in blocks:
            if not isinstance(block, Block):
                raise TypeError(
                    f"{type(self).__name__}.add: expected blocks, one by one, got "
                    f"{type(block).__name__}"
                )
            self.register_child(block)

    def forward(self, x: Any, *args: Any) -> Any:
        """Call the blocks in sequence; further arguments go to the first."""
        for block in self._children.values():
            x = self._called(block, x, *args)
            args = ()
            if isinstance(x, tuple | list):
                x, *args = x  # type: ignore[assignment]
                args = tuple(args)
        return (x, *args) if args else x

    def _called(self, block: Block, *args: Any) -> Any:
        """Call one of the blocks."""
        return block(*args)

    def __getitem__(self, key: int | slice) -> Block:
        """Return a block, or a slice as a container of the same class."""
        blocks = list(self._children.values())[key]
        if not isinstance(blocks, list):
            return blocks
        part = type(self)()
        part.add(*blocks)
        return part

    def __len__(self) -> int:
        return len(self._children)

    def __iter__(self) -> Iterator[Block]:
        return iter(self._children.values())

    def __bool__(self) -> bool:
        return True


class Sequential(Stack):
    """Sequential container: each block is called on the output of the previous one.

    Examples
    --------
    >>> net = nn.Sequential()
    >>> net.add(nn.Dense(4, activation="relu"), nn.Dense(2))
    >>> net.initialize()
    >>> net(np.zeros((5, 3))).shape
    (5, 2)
    >>> len(net[:1])
    1
    """

    _hybrid = "HybridSequential"

    def hybridize(self, active: bool = True, **kwargs: Any) -> None:
        """Compile the blocks one by one; as a `HybridSequential` they would be one program."""
        blocks = self._children.values()
        if active and blocks and all([isinstance(block, HybridBlock) for block in blocks]):
            warnings.warn(
                f"all blocks of this {type(self).__name__} are hybrid: as a {self._hybrid} they "
                "are compiled as one program",
                UserWarning,
                stacklevel=2,
            )
        super().hybridize(active, **kwargs)


class HybridSequential(Stack, HybridBlock):
    """Sequential container that can be compiled.

    Examples
    --------
    >>> net = nn.HybridSequential()
    >>> net.add(nn.Dense(4, activation="relu"), nn.Dense(2))
    >>> net.initialize()
    >>> net.hybridize()
    >>> net(np.zeros((5, 3))).shape
    (5, 2)
    """


class Concatenate(Sequential):
    """Parallel container: blocks called on the same input, outputs concatenated.

    Parameters
    ----------
    axis : int
        The axis along which they are joined.

    Examples
    --------
    >>> net = nn.Concatenate(axis=1)
    >>> net.add(nn.Identity(), nn.Identity())
    >>> net(np.zeros((2, 3))).shape
    (2, 6)
    """

    _hybrid = "HybridConcatenate"

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.axis = axis

    def forward(self, x: ndarray, *args: Any) -> ndarray:
        """Concatenate the outputs of all blocks."""
        return np.concatenate(
            [block(x, *args) for block in self._children.values()], axis=self.axis
        )


class HybridConcatenate(HybridSequential):
    """Parallel container that can be compiled; outputs are concatenated.

    Parameters
    ----------
    axis : int
        The axis along which they are joined.

    Examples
    --------
    >>> net = nn.HybridConcatenate(axis=1)
    >>> net.add(nn.Identity(), nn.Identity())
    >>> net(np.zeros((2, 3))).shape
    (2, 6)
    """

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.axis = axis

    def forward(self, x: ndarray, *args: Any) -> ndarray:
        """Concatenate the outputs of all blocks."""
        return np.concatenate(
            [block(x, *args) for block in self._children.values()], axis=self.axis
        )


class Identity(HybridBlock):
    """Identity: returns its input.

    Examples
    --------
    >>> nn.Identity()(np.array([1, 2]))
    array([1, 2])
    """

    def forward(self, x: Any) -> Any:
        """Return x."""
        return x


def _function(function: str | Callable[..., Any], what: str) -> tuple[Callable[..., Any], str]:
    if isinstance(function, str):
        found = getattr(np, function, None) or getattr(npx, function, None)
        if found is None:
            raise ValueError(f"{what}: neither np nor npx has a function {function!r}")
        return found, function
    if not callable(function):
        raise TypeError(
            f"{what}: expected a function or the name of one, got {type(function).__name__}"
        )
    return function, getattr(function, "__name__", type(function).__name__)


class Lambda(Block):
    """Function wrapped as a block.

    Parameters
    ----------
    function : str or callable
        A function, or the name of one in np or npx.

    Examples
    --------
    >>> nn.Lambda("tanh")(np.zeros(2))
    array([0., 0.])
    """

    def __init__(self, function: str | Callable[..., Any]) -> None:
        super().__init__()
        self._function, self._name = _function(function, "Lambda")

    def forward(self, *args: Any) -> Any:
        """Call the function."""
        return self._function(*args)

    def __repr__(self) -> str:
        return f"Lambda({self._name})"


class HybridLambda(HybridBlock):
    """Function wrapped as a block that can be compiled.

    Parameters
    ----------
    function : str or callable
        A function, or the name of one in np or npx.

    Examples
    --------
    >>> nn.HybridLambda(lambda x: x * 2)(np.ones(2))
    array([2., 2.])
    """

    def __init__(self, function: str | Callable[..., Any]) -> None:
        super().__init__()
        self._function, self._name = _function(function, "HybridLambda")

    def forward(self, x: Any, *args: Any) -> Any:
        """Call the function."""
        return self._function(x, *args)

    def __repr__(self) -> str:
        return f"HybridLambda({self._name})"


__all__ = [
    "Concatenate",
    "HybridConcatenate",
    "HybridLambda",
    "HybridSequential",
    "Identity",
    "Lambda",
    "Sequential",
]
