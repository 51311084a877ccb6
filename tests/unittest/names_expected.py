"""The signatures of NumPy that differ, by reason; see test_names.py."""

import numpy as onp

SIGNATURES = {
    "the default of `dtype` is Python's float, which means the default float": """
        numpy.random.Generator.random numpy.random.Generator.standard_exponential numpy.random.Generator.standard_gamma
        numpy.random.Generator.standard_normal
    """,
    "NumPy takes these parameters by name and position, whatever it shows": """
        numpy.ndarray.argpartition numpy.ndarray.dot numpy.ndarray.partition numpy.ndarray.repeat numpy.ndarray.searchsorted
        numpy.ndarray.setflags numpy.ndarray.take
    """,
    "NumPy takes more than it shows: choices one by one, an `out`, and None as a value": """
        numpy.ndarray.choose numpy.ndarray.conj numpy.ndarray.conjugate numpy.where
    """,
    "NumPy shows 0 as the default of `ndmax`, which is 64": """
        numpy.array
    """,
}
if onp.lib.NumpyVersion(onp.__version__) >= "2.5.0":
    SIGNATURES |= {
        "NumPy shows that `descending` was left out, which means False": """
            numpy.argsort numpy.sort
        """,
        "NumPy shows None as the default of `dtype`, which is float, and has lost the one of `sep`": """
            numpy.fromstring
        """,
    }
