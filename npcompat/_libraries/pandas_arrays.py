"""npcompat's arrays as arguments of pandas, which asks whether an array is NumPy's.

pandas takes any other array for a list or for a number: `series.iloc[mask]` would give other rows,
`series & integers` would be bools, and the numbers of `frame * np.array(2.0)` would be an array of
ours, which pandas' C code reads as NumPy's. It has no extension point for these, so that the
functions and methods which ask are replaced by ones that hand over NumPy's array over the same
memory.
"""

from npcompat._libraries.replacing import replace

ASKING = (
    ("pandas._libs.lib", "item_from_zerodim"),  # operators, the flexible ones, too
    ("pandas.core.common", "is_bool_indexer"),
    ("pandas.core.ops.array_ops", "logical_op"),
    ("pandas.core.construction", "sanitize_array"),
    ("pandas.core.algorithms", "unique"),
    ("pandas.core.algorithms", "factorize"),
    ("pandas.core.tools.timedeltas", "to_timedelta"),
    ("pandas.core.generic", "NDFrame._where"),
    ("pandas.core.frame", "DataFrame.__init__"),
    ("pandas.core.frame", "DataFrame.__setitem__"),
    ("pandas.core.frame", "DataFrame.insert"),
    ("pandas.core.frame", "DataFrame.set_index"),
    ("pandas.core.frame", "DataFrame.groupby"),
    ("pandas.core.series", "Series.groupby"),
    ("pandas.core.frame", "DataFrame._flex_arith_method"),
    ("pandas.core.frame", "DataFrame._flex_cmp_method"),
)
"""Functions and methods of pandas that ask, by the module that defines them."""


for _module, _path in ASKING:
    replace(_module, _path)

__all__: list[str] = []
