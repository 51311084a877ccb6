"""Stochastic blocks, which collect losses such as KL divergences during the forward pass."""

import functools
from collections.abc import Callable
from typing import Any

from npcompat.gluon.block import Block, HybridBlock
from npcompat.gluon.nn._containers import Stack


class StochasticBlock(HybridBlock):
    """Block whose `forward` collects losses.

    `forward` is decorated with `collectLoss`, and calls `add_loss`; after a call, `losses` holds
    the added losses. In a block that is compiled as a part of another, losses exist only during the
    compilation of the outer block: it adds them to its own, as `StochasticSequential` does.

    Examples
    --------
    >>> mgp = gluon.probability
    >>> class Sampler(mgp.StochasticBlock):
    ...     @mgp.StochasticBlock.collectLoss
    ...     def forward(self, loc, scale):
    ...         q = mgp.Normal(loc, scale)
    ...         self.add_loss(mgp.kl_divergence(q, mgp.Normal(0.0, 1.0)))
    ...         return q.sample()
    >>> net = Sampler()
    >>> net(np.ones(2), np.ones(2)).shape
    (2,)
    >>> net.losses
    [array([0.5, 0.5])]
    """

    _losses: list[Any]
    _collected: list[Any]

    def __init__(self) -> None:
        super().__init__()
        self.__dict__.update(_losses=[], _collected=[])

    def add_loss(self, loss: Any) -> None:
        """Add a loss; called in `forward`."""
        self._collected.append(loss)

    @staticmethod
    def collectLoss(func: Callable[..., Any]) -> Callable[..., Any]:
        """Decorate `forward` so that added losses become further outputs of the block."""

        @functools.wraps(func)
        def forward(self: "StochasticBlock", *args: Any, **kwargs: Any) -> tuple[Any, list[Any]]:
            outer = self._collected
            self.__dict__["_collected"] = []
            try:
                return func(self, *args, **kwargs), self._collected
            finally:
                self.__dict__["_collected"] = outer

        forward._collects = True  # type: ignore[attr-defined]
        return forward

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not getattr(self.forward, "_collects", False):
            name = type(self).__name__
            raise ValueError(
                f"{name}.forward: expected it to be decorated with @StochasticBlock.collectLoss"
            )
        out, losses = super().__call__(*args, **kwargs)
        self.__dict__["_losses"] = losses
        return out

    @property
    def losses(self) -> list[Any]:
        """Losses that the last call added."""
        return self._losses


class StochasticSequential(Stack, StochasticBlock):
    """Sequential container; `losses` has a list for each stochastic block in it.

    Examples
    --------
    >>> mgp = gluon.probability
    >>> class Penalty(mgp.StochasticBlock):
    ...     @mgp.StochasticBlock.collectLoss
    ...     def forward(self, x):
    ...         self.add_loss((x * x).sum())
    ...         return x + 1
    >>> net = mgp.StochasticSequential()
    >>> net.add(Penalty(), nn.Identity(), Penalty())
    >>> net(np.ones(2)), net.losses
    (array([3., 3.]), [[np.float32(2.0)], [np.float32(8.0)]])
    """

    @StochasticBlock.collectLoss
    def forward(self, x: Any, *args: Any) -> Any:
        """Call the blocks in sequence; further arguments go to the first."""
        return Stack.forward(self, x, *args)

    def _called(self, block: Block, *args: Any) -> Any:
        out = block(*args)
        if isinstance(block, StochasticBlock):
            self.add_loss(block.losses)
        return out


__all__ = ["StochasticBlock", "StochasticSequential"]
