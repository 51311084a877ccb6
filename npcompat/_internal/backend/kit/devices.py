"""Devices of engines."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class EngineDevice:
    """One device of an engine.

    Attributes
    ----------
    kind : {"cpu", "gpu", "tpu"}
        Kind of device.
    index : int
        Which of its kind.
    native : object
        The engine's own object for it.
    """

    kind: str
    index: int
    native: Any = None

    @property
    def platform(self) -> str:
        """The kind, by which operators choose kernels."""
        return self.kind


__all__ = ["EngineDevice"]
