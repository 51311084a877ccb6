"""Payload of a plug-in backend: the engine's own array, and NumPy's words for its shape and dtype.

An array that looks into the memory of another holds that one, its `owner`. So reference counts, by
which the core sees whether a buffer may be written, count those who look into it.
"""

import math
from typing import Any

import numpy as onp


class EngineArray:
    """Array of a plug-in backend.

    Attributes
    ----------
    data : object
        The engine's own array.
    shape : tuple of int
        Lengths of the axes.
    dtype : numpy.dtype
        The dtype that the array stands for.
    backend : object
        The plug-in that holds it.
    owner : EngineArray or None
        Array into whose memory this one looks.
    """

    __slots__ = ("__weakref__", "backend", "data", "dtype", "owner", "shape")

    def __init__(
        self,
        data: Any,
        shape: tuple[int, ...],
        dtype: onp.dtype[Any],
        backend: Any,
        owner: "EngineArray | None" = None,
    ) -> None:
        self.data, self.shape, self.dtype = data, shape, dtype
        self.backend, self.owner = backend, owner

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of the elements, by the dtype that they stand for."""
        return self.size * self.dtype.itemsize

    @property
    def aval(self) -> Any:
        """Object that stands for shape and dtype: equal ones are the same."""
        return self.backend.aval(self.shape, self.dtype)

    def __dlpack__(self, **options: Any) -> Any:
        return self.backend.to_dlpack(self).__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.backend.to_dlpack(self).__dlpack_device__()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> onp.ndarray[Any, Any]:
        found: onp.ndarray[Any, Any] = self.backend.to_host(self)
        return onp.array(found, dtype) if copy else onp.asarray(found, dtype)


__all__ = ["EngineArray"]
