"""NumPy's `lib.npyio` with our `NpzFile`, the class that `np.load` returns."""

from numpy.lib.npyio import DataSource

from npcompat.numpy._files import NpzFile

__all__ = ["DataSource", "NpzFile"]
