"""Constants: parameters that are not learned."""

from npcompat import initializer
from npcompat.gluon._parameter import Parameter
from npcompat.numpy._creation import asarray
from npcompat.numpy._typing import ArrayLike


class Constant(Parameter):
    """Constant: an array that a block needs, but does not learn.

    Parameters
    ----------
    value : array_like
        The values; kept by `initialize`, whatever the initializer.
    name : str
        Its name. MXNet 1's `Constant(name, value)` is taken, too.

    Examples
    --------
    >>> two = gluon.Constant([2.0, 2.0])
    >>> two.initialize()
    >>> two.data()
    array([2., 2.])
    """

    def __init__(self, value: ArrayLike, *given: ArrayLike, name: str = "const") -> None:
        if given:
            if not isinstance(value, str) or len(given) > 1:
                raise TypeError("Constant(): expected a value, or a name and a value")
            name, value = value, given[0]
        self.value = asarray(value)
        super().__init__(
            name,
            "null",
            self.value.shape,
            self.value.dtype,
            init=initializer.Constant(self.value.asnumpy()),
            differentiable=False,
        )
        self._shape = self.value.shape


__all__ = ["Constant"]
