"""Export of blocks: the graph, the parameters, and a program that runs without npcompat."""

import os
from typing import Any

from npcompat._internal.core import modes
from npcompat._internal.core.handle import Handle
from npcompat._internal.core.tensor_type import TensorType, dims
from npcompat._internal.files import safetensors_file
from npcompat._internal.graph.symbolic import constant
from npcompat._internal.support import atomic_file
from npcompat.symbol import Group, Symbol, var
from npcompat.symbol._graph import as_function


class Exported:
    """Mixin of hybrid blocks with their methods for graphs and files."""

    __slots__ = ()

    def to_symbol(self, *types: Any, training: bool = False) -> Symbol | Group:
        """Return the graph of the block; its parameters are variables.

        Parameters
        ----------
        *types : TensorType or ndarray
            The types of the inputs, which become variables named `data` (or `data0`, `data1`, ...).
        training : bool
            Whether the graph is that of training: running statistics are its auxiliary states, and
            each run draws new random numbers.

        Returns
        -------
        Symbol or Group
            The output, or the outputs.

        Examples
        --------
        >>> net = nn.Dense(2)
        >>> net.to_symbol(ops.TensorType(("batch", 3), "float32")).infer_shape(data=(4, 3))
        ([(4, 3), (2, 3), (2,)], [(4, 2)], [])
        """
        names = ["data"] if len(types) == 1 else [f"data{i}" for i in range(len(types))]
        inputs = [var(name, t.shape, t.dtype) for name, t in zip(names, types, strict=True)]
        with modes.changed(training=training, recording=False):
            out = self(*inputs)  # type: ignore[operator]
        if isinstance(out, Symbol):
            return out
        if isinstance(out, list | tuple) and all(isinstance(o, Handle) for o in out):
            return Group(
                [o if isinstance(o, Symbol) else constant(o.asnumpy()) for o in out]
            )  # outputs that depend on no input
        raise TypeError(
            f"{type(self).__name__} returns {type(out).__name__}; a graph has an array, or a list "
            "of arrays, as its result"
        )

    def infer_type(self, *args: Any) -> None:
        """Infer the dtypes of parameters that have no values yet from inputs.

        Inputs are arrays or TensorTypes.
        """
        params = self.collect_params()  # type: ignore[attr-defined]
        arguments, _ = self.to_symbol(*args).infer()
        for name, found in arguments.items():
            if name in params and found.dtype is not None and params[name]._data is None:
                params[name].cast(found.dtype)

    def export(
        self,
        path: str | os.PathLike[str],
        epoch: int = 0,
        remove_amp_cast: bool = True,
        *,
        dynamic_batch: bool = False,
    ) -> tuple[str, str]:
        """Write the graph, the parameters and a StableHLO program to files.

        The block must have been called once since `hybridize`.

        Parameters
        ----------
        path : path
            Prefix of the files' names.
        epoch : int
            Epoch number in the names of the second and third file.
        remove_amp_cast : bool
            Without effect: casts of mixed precision are part of no graph.
        dynamic_batch : bool
            Whether the first axis of every input may have any length.

        Returns
        -------
        tuple of str
            `path-symbol.json`, which `SymbolBlock.imports` reads, and `path-0000.params`, the
            parameters (safetensors). Beside them lies `path-0000.stablehlo`, which
            `jax.export.deserialize` reads: `f.call(params, *inputs)`, with a dict of the
            parameters, gives a list of the outputs.

        Raises
        ------
        RuntimeError
            If the block was not hybridized, or not called since.

        Examples
        --------
        >>> import os, tempfile
        >>> net = nn.Dense(2)
        >>> net.initialize()
        >>> net.hybridize()
        >>> y = net(np.ones((4, 3)))
        >>> graph, params = net.export(os.path.join(tempfile.mkdtemp(), "net"))
        >>> again = gluon.SymbolBlock.imports(graph, ["data"], params)
        >>> bool((again(np.ones((4, 3))) == y).all())
        True
        """
        compiled = getattr(self, "_compiled", None)
        called = None if compiled is None else compiled.latest_inputs()
        if not called:
            raise RuntimeError(
                f"{type(self).__name__}.export: hybridize the block and call it once, first: that "
                "says what its inputs are"
            )
        types = [
            TensorType(("batch", *shape[1:]) if dynamic_batch else shape, dtype)
            for shape, dtype in called
        ]
        graph = self.to_symbol(*types)
        params = {n: p.data() for n, p in self.collect_params().items()}  # type: ignore[attr-defined]
        used = [n for n in graph.list_arguments() if n in params]
        inputs = [n for n in graph.list_arguments() if n not in params]
        arrays = {n: params[n].asnumpy() for n in used}
        function = as_function(graph.heads)
        program = dims.exported(
            lambda given, *data: function({**given, **dict(zip(inputs, data, strict=True))}),
            [
                {n: (a.shape, a.dtype) for n, a in arrays.items()},
                *[(types[_number(n)].shape, types[_number(n)].dtype) for n in inputs],
            ],
        )
        files = (
            f"{os.fspath(path)}-symbol.json",
            f"{os.fspath(path)}-{epoch:04d}.params",
            f"{os.fspath(path)}-{epoch:04d}.stablehlo",
        )
        graph.save(files[0])
        safetensors_file.save(files[1], arrays)
        atomic_file.write(files[2], program)
        return files[:2]


def _number(name: str) -> int:
    """Return the index of the input that a variable stands for."""
    return int(name.removeprefix("data") or 0)


__all__ = ["Exported"]
