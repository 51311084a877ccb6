"""The names of NumPy that are missing, and the signatures that differ, by reason; see test_names.py."""

MISSING = [
    "numpy.core",
    "numpy.f2py",
    "numpy.test",
    "numpy.ndarray.__array_finalize__",
    "numpy.ndarray.__array_interface__",
    "numpy.ndarray.__array_struct__",
    "numpy.ndarray.__array_wrap__",
    "numpy.ndarray.__class_getitem__",
    "numpy.ndarray.__delitem__",
    "numpy.ndarray.__setstate__",
    "numpy.ndarray.ctypes",
    "numpy.ndarray.data",
    "numpy.ndarray.getfield",
    "numpy.ndarray.setfield",
]

SIGNATURES = {
    "its arguments are passed on to NumPy's": """
        numpy.array2string
    """,
    "outputs by position are parameters of their own": """
        numpy.divmod numpy.frexp numpy.modf
    """,
    "NumPy's default of `call` is an object that only it has": """
        numpy.errstate
    """,
    "it is made by `a.flat` only": """
        numpy.flatiter
    """,
    "it shows Python's float, for which NumPy's None stands": """
        numpy.frombuffer numpy.ndarray
    """,
    "ufuncs are functions with these methods, no objects yet": """
        numpy.ufunc
    """,
    "the default of `dtype` is Python's float, which means the default float": """
        numpy.random.Generator.random numpy.random.Generator.standard_exponential numpy.random.Generator.standard_gamma
        numpy.random.Generator.standard_normal
    """,
    "NumPy shows only `*args, **kwargs`; here the parameters have names": """
        numpy.ndarray.view
    """,
    "`where` is left out by another default than True": """
        numpy.ndarray.all numpy.ndarray.any
    """,
    "positional-only parameters of NumPy's can be given by name, too": """
        numpy.ndarray.dot numpy.ndarray.repeat numpy.ndarray.searchsorted numpy.ndarray.setflags numpy.ndarray.take
    """,
    "what NumPy passes on as `**kwargs` are parameters here": """
        numpy.ndarray.max numpy.ndarray.mean numpy.ndarray.min numpy.ndarray.prod numpy.ndarray.std numpy.ndarray.sum
        numpy.ndarray.var
    """,
}
