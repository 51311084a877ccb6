"""Checkpoint: the state of a training, written while it goes on, and restored on any devices."""

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

import numpy as onp

from npcompat._internal.backend.jax.checkpoints import Store
from npcompat._internal.core import modes
from npcompat._internal.core.handle import Handle, Value
from npcompat._internal.dispatch import handles, writes
from npcompat._internal.random import stream
from npcompat._internal.support.argument_errors import count
from npcompat._internal.support.errors import ParameterFileError, TracedValueError
from npcompat.gluon._block import Block
from npcompat.gluon._parameter import once
from npcompat.gluon.trainer import Trainer
from npcompat.optimizer._updater import state_leaves


class Checkpoint:
    """Checkpoint: parameters, optimizer states and random stream in a folder of numbered steps.

    It is written in the background, each process writing the pieces that it holds, and renamed when
    it is whole: whatever is interrupted, an older step stays. It is restored onto the devices where
    parameters lie now, which may be others. Needs orbax: ``pip install npcompat[checkpoints]``.

    Parameters
    ----------
    folder : path
        Folder, which all hosts must see.
    net : Block
        Block whose parameters are saved.
    trainer : Trainer, optional
        Trainer whose states are saved, by names of parameters.
    keep : int, optional
        Number of steps that are kept; all, if None.
    loader : DataLoader, optional
        Loader whose position in its epoch is saved.

    Examples
    --------
    >>> import tempfile
    >>> net = nn.Dense(1, in_units=2)
    >>> net.initialize()
    >>> with gluon.Checkpoint(tempfile.mkdtemp(), net) as checkpoint:  # doctest: +SKIP
    ...     checkpoint.save(1, {"epoch": 3})
    ...     checkpoint.restore()
    (1, {'epoch': 3})
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        net: Any,
        trainer: Trainer | None = None,
        keep: int | None = 3,
        loader: Any = None,
    ) -> None:
        _check_types(net, trainer, loader)
        self._net, self._trainer, self._loader = net, trainer, loader
        self._store = Store(folder, None if keep is None else count("Checkpoint", "keep", keep))

    def __enter__(self) -> "Checkpoint":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def steps(self) -> list[int]:
        """Return the numbers of the steps that are written, in order."""
        return self._store.steps()

    def save(self, step: int, data: Any = None) -> None:
        """Save the state under a number; returns before it is written, see `wait`.

        Steps that go on meanwhile do not change what is written. All processes must call it.

        Parameters
        ----------
        step : int
            Number, greater than those that are there.
        data : optional
            What else is to be kept; anything that JSON can hold.
        """
        _check_mode("save")
        step = count("Checkpoint.save", "step", step, least=0)
        try:
            json.dumps(data)
        except TypeError as error:
            raise TypeError(f"Checkpoint.save: data: JSON can't hold it: {error}") from error
        before = self._store.begun()
        if before and step <= before[-1]:
            raise ValueError(
                f"Checkpoint.save: step {step} is not greater than {before[-1]}, which is there "
                "already; restore() says where to go on"
            )
        arrays = {name: handles.read(a).payload for name, a in self._named().items()}
        if not arrays:
            raise ValueError(f"Checkpoint.save: {type(self._net).__name__} has no parameters")
        self._store.save(step, arrays, {**self._notes(), "data": data})

    def restore(self, step: int | None = None) -> tuple[int, Any] | None:
        """Restore a state onto the devices where parameters lie now.

        It waits for what `save` has begun. Nothing is changed unless everything fits. All processes
        must call it.

        Parameters
        ----------
        step : int, optional
            Its number; the last one if not given.

        Returns
        -------
        tuple of int and object, or None
            Number and `data` of the step; None if there is none.

        Raises
        ------
        ParameterFileError
            If names, shapes, dtypes or the kind of optimizer differ: they are listed.
        DataFileError
            If it is damaged.
        """
        _check_mode("restore")
        self._store.wait()
        there = self._store.steps()
        if step is None:
            if not there:
                return None
            step = there[-1]
        elif (step := count("Checkpoint.restore", "step", step, least=0)) not in there:
            raise FileNotFoundError(
                f"{self._store.folder}: there is no step {step}; there are {there or 'none'}"
            )
        types = self._store.types(step)
        self._complete(types)
        here = self._named()
        self._check(step, types, here)
        notes = self._store.notes(step)
        self._check_notes(step, notes)
        like = {n: handles.read(a).payload for n, a in here.items()}
        found = self._store.load(step, like, notes)
        with modes.changed(recording=False):
            for name, array in here.items():
                writes.write(array, Value(found[name]))
        self._take(notes)
        return step, notes["data"]

    def wait(self) -> None:
        """Wait until what was saved is written; raises what went wrong."""
        self._store.wait()

    def close(self) -> None:
        """Wait, and end the threads that write."""
        self._store.close()

    # --- the state

    def _named(self) -> dict[str, Handle]:
        """Return all arrays, by names that are those of files."""
        params = once(self._net.collect_params())
        found: dict[str, Handle] = {f"parameter {name}": p.data() for name, p in params.items()}
        if self._trainer is not None:
            found |= self._states({id(p): name for name, p in params.items()})
        return {quote(name, safe=" ()[],'"): array for name, array in found.items()}

    def _states(self, names: Mapping[int, str]) -> dict[str, Handle]:
        trainer = self._trainer
        assert trainer is not None
        trainer._begin()
        found = {}
        for i, state in trainer._updater.states.items():
            name = names.get(id(trainer._params[i]), f"{i} of the trainer")
            for j, array in enumerate(state_leaves(state)):
                found[f"state {j} of {name}"] = array
        shared = trainer._optimizer._shared_memory()
        scaler = {} if trainer._scaler is None else trainer._scaler.state()
        return found | {f"optimizer {n}": a for n, a in (shared | scaler).items()}

    def _notes(self) -> dict[str, Any]:
        found: dict[str, Any] = {"random": list(stream.default.position())}
        if self._trainer is not None:
            optimizer = self._trainer._optimizer
            found["optimizer"] = type(optimizer).__name__
            found["learning_rate"] = float(optimizer._lr)
            found["counts"] = [
                onp.broadcast_to(group.counts.asnumpy(), (len(group.indices),)).tolist()
                for group in optimizer._groups
            ]
        if self._loader is not None:
            found["loader"] = self._loader.state_dict()
        return found

    def _take(self, notes: Mapping[str, Any]) -> None:
        if self._trainer is not None:
            optimizer = self._trainer._optimizer
            optimizer._lr[...] = notes["learning_rate"]
            for group, counts in zip(optimizer._groups, notes["counts"], strict=True):
                group.set_counts(onp.array(counts, onp.int32))
        if self._loader is not None:
            self._loader.load_state_dict(notes["loader"])
        stream.default.begin(*notes["random"])

    def _complete(self, types: Mapping[str, Any]) -> None:
        """Give parameters whose shape is not known yet that of the file."""
        for name, parameter in once(self._net.collect_params()).items():
            saved = types.get(quote(f"parameter {name}", safe=" ()[],'"))
            if parameter._data is None and saved is not None and parameter._accepts(saved[0]):
                parameter.shape = saved[0]
                parameter._check()

    def _check(self, step: int, types: Mapping[str, Any], here: Mapping[str, Any]) -> None:
        differences = [f"{n}: missing there" for n in here if n not in types]
        differences += [f"{n}: not a part of this training" for n in types if n not in here]
        differences += [
            f"{n}: has shape {types[n][0]} and dtype {types[n][1]} there, {a.shape} and {a.dtype} "
            "here"
            for n, a in here.items()
            if n in types and types[n] != (a.shape, a.dtype)
        ]
        self._refuse(step, differences)

    def _check_notes(self, step: int, notes: Mapping[str, Any]) -> None:
        differences = []
        if self._trainer is not None:
            here = [len(group.indices) for group in self._trainer._optimizer._groups]
            there = [len(counts) for counts in notes.get("counts", ())]
            kind = type(self._trainer._optimizer).__name__
            if "counts" not in notes:
                differences.append("trainer: it was saved without one")
            elif notes.get("optimizer", kind) != kind:
                differences.append(f"optimizer: it is {notes['optimizer']} there, {kind} here")
            elif here != there:
                differences.append(
                    f"trainer: its groups of parameters have {there} members there, {here} here"
                )
        if self._loader is not None and "loader" not in notes:
            differences.append("loader: it was saved without one")
        self._refuse(step, differences)

    def _refuse(self, step: int, differences: Sequence[str]) -> None:
        if differences:
            listed = "\n  ".join(differences)
            raise ParameterFileError(
                f"step {step} of {self._store.folder} does not fit; nothing was loaded:\n  {listed}"
            )


def _check_types(net: Any, trainer: Any, loader: Any) -> None:
    if not isinstance(net, Block):
        raise TypeError(f"Checkpoint: net: expected a Block, got {type(net).__name__}")
    if not isinstance(trainer, Trainer | None):
        raise TypeError(f"Checkpoint: trainer: expected a Trainer, got {type(trainer).__name__}")
    if loader is not None and not hasattr(loader, "load_state_dict"):
        raise TypeError(
            "Checkpoint: loader: expected a DataLoader, or another with state_dict and "
            f"load_state_dict, got {type(loader).__name__}"
        )


def _check_mode(name: str) -> None:
    if modes.current().trace is not None:
        raise TracedValueError(
            f"Checkpoint.{name} in a compiled function: files are read and written once, while it "
            "is compiled; call it outside"
        )


__all__ = ["Checkpoint"]
