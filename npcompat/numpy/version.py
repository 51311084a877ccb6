"""NumPy's own `numpy.version`: the release of NumPy that is installed, as `np.__version__`."""

from numpy.version import full_version, git_revision, release, short_version, version

__all__ = ["full_version", "git_revision", "release", "short_version", "version"]
