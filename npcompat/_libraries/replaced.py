"""Functions of other libraries that ask whether an array is NumPy's, and get NumPy's for ours.

The libraries have no extension point for them, and take any other array for a list, a number or a
mistake: `series.iloc[mask]` of pandas would give other rows, and the numbers of
`frame * np.array(2.0)` would be an array of ours, which pandas' C code reads as NumPy's.
"""

import importlib
from dataclasses import dataclass
from functools import partial

from npcompat._libraries.replacing import replace


@dataclass(frozen=True)
class Function:
    """A function or method of a library that gets NumPy's arrays for ours.

    Parameters
    ----------
    place : str
        `module:name`.
    within : bool
        If True, also for arrays in lists, tuples and dicts among its arguments.
    result : bool
        If True, its result is converted, too, since it calls functions of the program.
    """

    place: str
    within: bool = False
    result: bool = False


within, result = partial(Function, within=True), partial(Function, result=True)

REPLACED: dict[str, tuple[str | Function, ...]] = {
    "astropy.table.table": (
        within("astropy.table.table:Table.__init__"),
        "astropy.table.table:Table.__getitem__",
        "astropy.table.table:Table.__setitem__",
    ),
    "gymnasium.spaces": (
        "gymnasium.spaces.box:Box.__init__",
        "gymnasium.spaces.multi_discrete:MultiDiscrete.__init__",
        "gymnasium.spaces.multi_discrete:MultiDiscrete.contains",
        "gymnasium.spaces.multi_binary:MultiBinary.contains",
    ),
    "gymnasium.vector.vector_env": (  # what the program's environments tell, beside observations
        within("gymnasium.vector.vector_env:VectorEnv._add_info"),
    ),
    "h5py._hl.dataset": (  # reads rows of several lengths in C, without a look at their class
        within("h5py._hl.dataset:make_new_dset"),
        within("h5py._hl.dataset:Dataset.__setitem__"),
        within("h5py._hl.attrs:AttributeManager.create"),
    ),
    "joblib.hashing": ("joblib.hashing:NumpyHasher.save",),  # hashes the name of the class, too
    "lightgbm.basic": ("lightgbm.basic:_list_to_1d_numpy",),  # gradients of own objectives
    "matplotlib.cbook": ("matplotlib.cbook:_reshape_2D",),  # columns, which else are rows
    "networkx.convert": ("networkx.convert:to_networkx_graph",),  # takes others for lists of edges
    "numpy.testing": (
        within("numpy.testing._private.utils:assert_equal"),
        within("numpy.testing._private.utils:assert_almost_equal"),
    ),
    "pandas": (
        "pandas._libs.lib:item_from_zerodim",  # operators, the flexible ones, too
        "pandas.core.common:is_bool_indexer",
        "pandas.core.dtypes.common:is_array_like_deprecate_non_pandas",  # keys of iloc
        "pandas.core.ops.array_ops:logical_op",
        "pandas.core.construction:sanitize_array",
        "pandas.core.construction:array",
        "pandas.core.indexers.utils:check_array_indexer",
        "pandas.core.algorithms:take",
        within("pandas.core.missing:mask_missing"),
        "pandas.core.arrays.period:period_array",
        "pandas.core.arrays.period:PeriodArray.__init__",
        "pandas.core.internals.managers:BaseBlockManager.setitem",
        "pandas.core.algorithms:unique",
        "pandas.core.algorithms:factorize",
        "pandas.core.tools.timedeltas:to_timedelta",
        "pandas.core.generic:NDFrame._where",
        "pandas.core.util.hashing:hash_array",
        within("pandas.core.reshape.merge:merge"),
        "pandas.core.arrays.integer:IntegerArray.__init__",
        "pandas.core.arrays.floating:FloatingArray.__init__",
        "pandas.core.arrays.boolean:BooleanArray.__init__",
        "pandas.core.arrays.numpy_:NumpyExtensionArray.__init__",
        "pandas.core.indexes.base:Index.__new__",  # copies what could change
        "pandas.core.indexes.base:Index.delete",
        within("pandas.core.series:Series.__init__"),
        "pandas.core.series:Series._flex_method",
        "pandas.core.frame:DataFrame.from_records",
        within("pandas.core.frame:DataFrame.__init__"),
        "pandas.core.frame:DataFrame.__setitem__",
        "pandas.core.frame:DataFrame.insert",
        within("pandas.core.frame:DataFrame.set_index"),
        within("pandas.core.frame:DataFrame.groupby"),
        within("pandas.core.series:Series.groupby"),
        "pandas.core.frame:DataFrame._flex_arith_method",
        "pandas.core.indexing:check_bool_indexer",
        within("pandas.core.indexing:_iLocIndexer._setitem_with_indexer"),  # of `loc`, too
        "pandas.core.frame:DataFrame._flex_cmp_method",
    ),
    "pint.delegates.formatter.html": (  # texts of quantities, element by element
        "pint.delegates.formatter.html:HTMLFormatter.format_magnitude",
    ),
    "pint.delegates.formatter.latex": (
        "pint.delegates.formatter.latex:LatexFormatter.format_magnitude",
        "pint.delegates.formatter.latex:SIunitxFormatter.format_magnitude",
    ),
    "pint.delegates.formatter.plain": (
        "pint.delegates.formatter.plain:DefaultFormatter.format_magnitude",
        "pint.delegates.formatter.plain:CompactFormatter.format_magnitude",
        "pint.delegates.formatter.plain:PrettyFormatter.format_magnitude",
        "pint.delegates.formatter.plain:RawFormatter.format_magnitude",
    ),
    "scipy.linalg._matfuncs": ("scipy.linalg._matfuncs:_funm_loops",),
    "scipy.optimize._differentiable_functions": (  # gradients, which code in C gets
        result("scipy.optimize._differentiable_functions:_ScalarGradWrapper.__call__"),
        result("scipy.optimize._differentiable_functions:_VectorFunWrapper.__call__"),
        result("scipy.optimize._differentiable_functions:_VectorJacWrapper.__call__"),
        result("scipy.optimize._differentiable_functions:VectorFunction.jac"),
        "scipy.optimize._numdiff:group_columns",
    ),
    "scipy.sparse._index": ("scipy.sparse._index:_broadcast_arrays",),  # keys
    "scipy.sparse._lil": ("scipy.sparse._lil:_prepare_index_for_memoryview",),
    "scipy.sparse.linalg._interface": (
        "scipy.sparse.linalg._interface:aslinearoperator",  # dense matrices of iterative solvers
    ),
    "sklearn.model_selection._search": (
        within("sklearn.model_selection._search:ParameterGrid.__init__"),
        within("sklearn.model_selection._search:ParameterSampler.__init__"),
        within("sklearn.model_selection._search:GridSearchCV.__init__"),
        within("sklearn.model_selection._search:RandomizedSearchCV.__init__"),
    ),
    "sklearn.utils._param_validation": (  # parameters that must be NumPy's arrays
        "sklearn.utils._param_validation:_InstancesOf.is_satisfied_by",
    ),
    "sklearn.utils.class_weight": (
        "sklearn.utils.class_weight:compute_class_weight",
        "sklearn.utils.class_weight:compute_sample_weight",
    ),
    "sparse": (
        "sparse:clip",
        "sparse:dot",
        "sparse:einsum",
        "sparse:elemwise",
        "sparse:full",
        "sparse:full_like",
        "sparse:kron",
        "sparse:matmul",
        "sparse:outer",
        "sparse:tensordot",
        "sparse:vecdot",
        "sparse:where",
        "sparse:COO.__init__",
        "sparse:COO.from_numpy",
        "sparse:GCXS.__init__",
        "sparse:GCXS.from_numpy",
        "sparse:DOK.from_numpy",
    ),
    "xgboost.core": ("xgboost.objective:_grad_arrinf",),  # gradients of own objectives
    "xarray": (  # positions only: the values that it holds stay ours
        within("xarray.core.dataarray:DataArray.__getitem__"),
        within("xarray.core.dataarray:DataArray.isel"),
        within("xarray.core.dataarray:DataArray.sel"),
        within("xarray.core.dataarray:DataArray.interp"),
        within("xarray.core.dataset:Dataset.isel"),
        within("xarray.core.dataset:Dataset.sel"),
        within("xarray.core.dataset:Dataset.interp"),
        "xarray.core.variable:Variable.__getitem__",
        "xarray.core.variable:Variable.isel",
    ),
}
"""Functions and methods, by the module after whose import they are replaced."""


def extend(library: str) -> None:
    """Replace the functions of a library that has been imported."""
    for given in REPLACED[library]:
        function = Function(given) if isinstance(given, str) else given
        module, _, path = function.place.partition(":")
        importlib.import_module(module)
        replace(module, path, within=function.within, result=function.result)


__all__ = ["REPLACED", "Function", "extend"]
