"""Percentiles of Dask's arrays whose chunks are npcompat's arrays, as of NumPy's chunks."""

import numpy
from dask.array.dispatch import percentile_lookup

from npcompat import np

percentile_lookup.register(np.ndarray, percentile_lookup.dispatch(numpy.ndarray))

__all__: list[str] = []
