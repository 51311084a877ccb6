"""Hybrid blocks: `hybridize` compiles them."""

import functools
from collections.abc import Sequence
from typing import Any

from npcompat._internal.compile.control_flow import recomputed
from npcompat._internal.compile.jit import Compiled
from npcompat._internal.compile.loop_policy import is_staged
from npcompat._internal.compile.shape_buckets import Axes, Bucketed, Buckets, requested
from npcompat._internal.core import modes
from npcompat.gluon import _variables
from npcompat.gluon._block import Block
from npcompat.gluon._containing import Watch
from npcompat.gluon._export import Exported
from npcompat.gluon._front import F
from npcompat.gluon.parameter import ParameterDict


class HybridBlock(Exported, Block):
    """Block that can be compiled.

    A subclass defines `forward(self, x, ...)`, or `hybrid_forward(self, F, x, ..., **params)`,
    which gets its parameters' arrays by name, and in `F` the functions of `npx` and `np`.
    """

    _active: bool
    _remat: bool
    _compiled: Compiled | Bucketed | None
    _buckets: Buckets | None
    _loops: str | None
    _watched: Watch | None

    def __init__(self, *, prefix: str | None = None, params: ParameterDict | None = None) -> None:
        super().__init__(prefix=prefix, params=params)
        self.__dict__.update(
            _active=False, _remat=False, _buckets=None, _compiled=None, _watched=None, _loops=None
        )

    def hybridize(  # type: ignore[override]
        self,
        active: bool = True,
        partition_if_dynamic: bool = True,
        static_alloc: bool = False,
        static_shape: bool = False,
        inline_limit: int = 2,
        forward_bulk_size: int | None = None,
        backward_bulk_size: int | None = None,
        *,
        remat: bool | None = None,
        bucket: int | Sequence[int] | None = None,
        bucket_axis: Axes | None = None,
        loops: str | None = None,
    ) -> None:
        """Compile the block; results, random draws and errors stay the same.

        Each combination of input types, shapes and modes is compiled to one program.

        Parameters
        ----------
        active : bool
            Whether calls are compiled from now on.
        static_alloc, static_shape, inline_limit, forward_bulk_size, backward_bulk_size,
        partition_if_dynamic
            Hints to MXNet's executor, without effect here: XLA always plans memory ahead, each
            combination of shapes has a program of its own, and all layers are in one program.
        remat : bool, optional
            Rematerialization (gradient checkpointing; Chen et al., 2016): whether backward
            recomputes the block's intermediate values instead of keeping them, which saves memory
            and costs a second forward pass. Also applies while the block is compiled as part of
            another one. Set it on parts of a network: the recomputed values of one block are all
            kept during its backward. None changes nothing; child blocks are not affected.
        bucket, bucket_axis
            Lengths to which arrays are padded along one axis, as for `npx.jit`. If the block is
            compiled as part of another one, those of the outer block apply.
        loops : {"staged", "python"}, optional
            Whether loops and branches of `forward` become parts of the program, as for `npx.jit`.
            If the block is compiled as part of another one, the choice of the outer block applies.

        Examples
        --------
        >>> net = nn.Dense(2)
        >>> net.initialize()
        >>> net.hybridize()
        >>> net(np.zeros((4, 3))).shape
        (4, 2)
        """
        is_staged(loops)  # raise before anything changes, not at the first call
        self.__dict__.update(
            _active=bool(active),
            _compiled=None,
            _buckets=requested(bucket, bucket_axis),
            _loops=loops,
        )
        if remat is not None:
            self.__dict__["_remat"] = bool(remat)
        for child in self._blocks().values():
            child.hybridize(active)
        self._changed()

    def _changed(self) -> None:
        self.__dict__["_compiled"] = None
        super()._changed()

    def _run(self, *args: Any, **kwargs: Any) -> Any:
        mode = modes.current()
        if mode.trace is not None:
            if self._remat and mode.recording:
                return recomputed(
                    functools.partial(super()._run, *args, **kwargs), type(self).__name__
                )
            return super()._run(*args, **kwargs)
        if (
            not self._active
            or ((observer := mode.observer) is not None and observer.needs_every_op)
            or _variables.current() is not None
        ):
            return super()._run(*args, **kwargs)
        return self._as_compiled()(*args, **kwargs)

    def _as_compiled(self) -> Compiled | Bucketed:
        if self._watched is not None and self._watched.changed:
            self._changed()
        compiled = self._compiled
        if compiled is None:
            self.__dict__["_watched"] = Watch(self) or None
            run, name = self._run if self._remat else super()._run, type(self).__name__
            compiled = (
                Compiled(run, name, loops=self._loops)
                if self._buckets is None
                else Bucketed(run, self._buckets, name, loops=self._loops)
            )
            self.__dict__["_compiled"] = compiled
        return compiled

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Compile a hybridized block ahead of time, for inputs of given types.

        Works as the `compile` method of `npx.jit`. The mode counts, too: inside of
        `autograd.train_mode()` the program for training is compiled.

        Examples
        --------
        >>> net = nn.Dense(2)
        >>> net.initialize()
        >>> net.hybridize()
        >>> net.compile(ops.TensorType((4, 3), "float32"))
        >>> net.weight.shape
        (2, 3)
        """
        if not self._active:
            raise RuntimeError(f"{type(self).__name__}.compile: hybridize() the block first")
        self._as_compiled().compile(*args, **kwargs)

    def forward(self, x: Any, *args: Any) -> Any:
        """Compute the outputs of the block.

        By default, calls `hybrid_forward` with `F` and the arrays of the block's parameters.
        """
        return self.hybrid_forward(
            F,
            x,
            *args,
            **{name: p.data() for name, p in self._reg_params.items() if name in self.__dict__},
        )

    def hybrid_forward(self, F: Any, x: Any, *args: Any, **params: Any) -> Any:
        """Compute the outputs of the block, in MXNet's older form of `forward`."""
        raise NotImplementedError(
            f"{type(self).__name__} must define forward(self, x, ...) or hybrid_forward(self, F, "
            "x, ..., **params)"
        )

    def optimize_for(self, x: Any, *args: Any, backend: str | None = None, **kwargs: Any) -> None:
        """Raise NotImplementedError: XLA is the only compiler."""
        raise NotImplementedError(
            f"optimize_for(backend={backend!r}): XLA is the only compiler; use hybridize()"
        )


__all__ = ["HybridBlock"]
