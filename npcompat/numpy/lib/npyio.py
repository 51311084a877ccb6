"""NumPy's `lib.npyio`: the class of what `np.load` returns for an `.npz` file is ours."""

from numpy.lib.npyio import DataSource

from npcompat.numpy._files import NpzFile

__all__ = ["DataSource", "NpzFile"]
