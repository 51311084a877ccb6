"""NumPy's own test files, loaded so that what they import as NumPy is npcompat.

The source is read from the installed NumPy and executed as it is; only its import statements are
answered otherwise (`__import__` is what they call), so that line numbers and tracebacks stay
NumPy's. Three rules say what they get:

- a name that `npcompat.numpy` has is npcompat's;
- types, constants and testing tools, which compute nothing on arrays, are NumPy's (`BORROWED`);
- any other name raises AttributeError when it is used, not when it is imported, so that one gap does not hide a file.

The assertions of `numpy.testing` compare the values, dtypes and shapes of npcompat arrays as NumPy
arrays.
"""

import ast
import builtins
import contextlib
import functools
import importlib
import types
import warnings
from pathlib import Path

import hypothesis
import numpy as onp
import pytest

import npcompat.numpy
import npcompat.numpy.lib.recfunctions
import npcompat.numpy.lib.stride_tricks
import npcompat.numpy.random
from npcompat import npx

BORROWED = frozenset(
    [
        "bytes_",
        "character",
        "clongdouble",
        "complexfloating",
        "csingle",
        "cdouble",
        "datetime64",
        "double",
        "flexible",
        "floating",
        "generic",
        "half",
        "int_",
        "intc",
        "long",
        "longdouble",
        "longlong",
        "object_",
        "short",
        "signedinteger",
        "single",
        "str_",
        "timedelta64",
        "typecodes",
        "ubyte",
        "uint",
        "uintc",
        "uintp",
        "ulong",
        "ulonglong",
        "unsignedinteger",
        "ushort",
        "byte",
        "void",
        "True_",
        "False_",
        "ScalarType",
        "sctypeDict",
        "_CopyMode",
        "_NoValue",
        "__config__",
        "__version__",
        "dtypes",
        "sctypes",
        "little_endian",
        "matrix",
        "broadcast",
        "ravel_multi_index",
    ]
)
"""Types and constants that tests take from `numpy`, and that hold no arrays."""

NUMPYS_OWN = (
    "numpy.exceptions",
    "numpy.testing._private",
    "numpy._core._rational_tests",
    "numpy._core.numerictypes",
    "numpy._core.overrides",
    "numpy._core.tests",
    "numpy._core._exceptions",
    "numpy._utils",
    "numpy.lib._iotools",
    "numpy.lib.array_utils",
    "numpy.ma",
    "numpy.version",
)
"""Modules that stay NumPy's."""


class Missing:
    """A name that npcompat does not have; using it fails, having it does not."""

    def __init__(self, name):
        self.__dict__["_name"] = name

    def _fail(self, *args, **kwargs):
        raise AttributeError(f"npcompat.numpy has no {self._name}")

    __call__ = __getattr__ = __getitem__ = __iter__ = _fail


def on_host(x):
    """An argument with the npcompat arrays in it made NumPy arrays, at any depth of lists, tuples
    and dicts.
    """
    if isinstance(x, npcompat.numpy.ndarray):
        return x.asnumpy()
    if (
        hasattr(type(x), "__array__")
        and not isinstance(x, onp.ndarray | onp.generic)
        and isinstance(x.__array__(), npcompat.numpy.ndarray)
    ):
        return x.__array__().asnumpy()
    if type(x) in (list, tuple):
        return type(x)(map(on_host, x))
    if type(x) is dict:
        return {key: on_host(value) for key, value in x.items()}
    return x


class Testing:
    """`numpy.testing`, or `numpy.ma.testutils`, whose assertions take npcompat arrays; those that
    call a function are NumPy's own.
    """

    HAS_REFCOUNT = False  # what tests count are the references to NumPy's own C objects
    CALLING = (
        "assert_raises",
        "assert_raises_regex",
        "assert_warns",
        "assert_no_warnings",
        "assert_no_gc_cycles",
    )

    def __init__(self, module):
        self._module = module

    def __getattr__(self, name):
        found = getattr(self._module, name)
        if not name.startswith("assert_") or name in self.CALLING:
            return found

        @functools.wraps(found)
        def compare(*args, **kwargs):
            __tracebackhide__ = True
            return found(
                *map(on_host, args), **{key: on_host(value) for key, value in kwargs.items()}
            )

        return compare


class Marks:
    """`pytest.mark`, with the values that tests are parametrized with made at once, while the modes
    of `load` hold.
    """

    def __getattr__(self, name):
        return getattr(pytest.mark, name)

    @staticmethod
    def parametrize(argnames, argvalues, **options):
        return pytest.mark.parametrize(argnames, list(argvalues), **options)


class Pytest:
    """`pytest` with those marks."""

    mark = Marks()

    def __getattr__(self, name):
        return getattr(pytest, name)


class Settings:
    """Some variables of one of NumPy's private modules, which tests set, and which what we have of
    it obeys.
    """

    def __init__(self, module, names):
        self.__dict__.update(_module=module, _names=names)

    def __getattr__(self, name):
        return (
            getattr(self._module, name)
            if name in self._names
            else Missing(f"{self._module.__name__}.{name}".removeprefix("numpy."))
        )

    def __setattr__(self, name, value):
        setattr(self._module, name, value)


class Namespace:
    """Stand-in for `numpy`, or one of its submodules, in NumPy's tests."""

    def __init__(self, name, modules):
        self._name, self._modules = name, modules

    def __getattr__(self, name):
        for module in self._modules:
            if hasattr(module, name):
                found = getattr(module, name)
                ours = (
                    isinstance(found, types.ModuleType)
                    and found.__name__.startswith("npcompat")
                    and name != "dtypes"
                )
                return Namespace(f"{self._name}.{name}", (found,)) if ours else found
        if name in BORROWED:
            return getattr(onp, name, None) or getattr(onp._core, name)
        if name.startswith("__"):
            raise AttributeError(name)
        return Missing(f"{self._name}.{name}".removeprefix("numpy."))

    def __dir__(self):
        return [name for module in self._modules for name in dir(module)]


class Core(Namespace):
    """`numpy._core` and its parts: the same functions under other names."""

    def __getattr__(self, name):
        if name in (
            "_umath_tests",
            "_multiarray_tests",
            "_rational_tests",
            "_operand_flag_tests",
            "_struct_ufunc_tests",
        ):
            return importlib.import_module(f"numpy._core.{name}")
        if name in (
            "umath",
            "numeric",
            "multiarray",
            "fromnumeric",
            "shape_base",
            "_multiarray_umath",
        ):
            return self
        if name == "records":
            return ROOT.rec
        if name == "_npyio_impl":
            return Settings(onp.lib._npyio_impl, ("_loadtxt_chunksize",))
        if f"numpy._core.{name}" in NUMPYS_OWN:
            return importlib.import_module(f"numpy._core.{name}")
        if name in ("normalize_axis_index", "normalize_axis_tuple"):
            return getattr(onp.lib.array_utils, name)
        constant = getattr(onp._core._multiarray_umath, name, None)
        return constant if isinstance(constant, int | float | dict) else super().__getattr__(name)

    @property
    def __dict__(self):  # type: ignore[override]
        ufuncs = {
            name for name, found in vars(onp._core.umath).items() if isinstance(found, onp.ufunc)
        }
        return {
            name: found
            for name, found in vars(npcompat.numpy).items()
            if name in ufuncs or not isinstance(found, npcompat.numpy.ufunc)
        }


class Root(Namespace):
    """`numpy` itself."""

    def __getattr__(self, name):
        if name == "testing":
            return Testing(onp.testing)
        if name == "ma":
            return onp.ma
        if name == "_core":
            return Core("numpy", (npcompat.numpy,))
        if name == "lib":
            return Core("numpy.lib", (npcompat.numpy.lib, npcompat.numpy))
        if not name.startswith("_") and name not in dir(onp) and name not in BORROWED:
            return getattr(
                npcompat.numpy, name
            )  # what NumPy has not, either, is an error at once, as there
        return super().__getattr__(name)

    @property
    def __dict__(self):  # type: ignore[override]
        return {name: getattr(self, name) for name in dir(self)}


ROOT = Root("numpy", (npcompat.numpy,))


def _import(name, globals=None, locals=None, fromlist=(), level=0):
    """Import a module for a test file: `__import__` with npcompat in place of NumPy."""
    if name == "pytest":
        return Pytest()
    if name == "numpy.ma.testutils":
        return Testing(importlib.import_module(name))
    if level or name.split(".")[0] != "numpy" or name.startswith(NUMPYS_OWN):
        return builtins.__import__(name, globals, locals, fromlist, level)
    with contextlib.suppress(ImportError):
        importlib.import_module(name)  # what unpickling asks for, it looks up in `sys.modules`
    found = ROOT
    if fromlist:
        for part in name.split(".")[1:]:
            found = getattr(found, part)
            if isinstance(
                found, Missing
            ):  # a module of NumPy's that is private, with functions that may be public
                found = Core(name, (npcompat.numpy, npcompat.numpy.lib.stride_tricks))
    return found


def _import_numpy(name, *args):
    """Import a module for a test file that runs on NumPy itself."""
    return Pytest() if name == "pytest" else builtins.__import__(name, *args)


def placed(backend):
    """A context for the backend of a module; NumPy itself needs none."""
    return contextlib.nullcontext() if backend == "reference" else npx.backend(backend)


def load(file, backend, rewritten=None, names=None):
    """The namespace of one of NumPy's test files, run against npcompat in NumPy's dtype mode.

    Parameters
    ----------
    file : str
        Path below `site-packages`, as "numpy/_core/tests/test_indexing.py".
    backend : {'jax', 'numpy', 'reference'}
        Where new arrays are placed, while the file is loaded and while its tests run; with
        'reference', NumPy is NumPy.
    rewritten : function, optional
        What becomes of the source, as a tree.
    names : dict, optional
        What is defined in the file beforehand.
    """
    path = Path(onp.__file__).parent.parent / file
    imports = _import_numpy if backend == "reference" else _import
    namespace = {
        "__name__": path.stem,
        "__file__": str(path),
        "__builtins__": {**vars(builtins), "__import__": imports},
    } | (names or {})
    source = ast.parse(path.read_text(encoding="utf-8"))
    # NumPy's own run of its tests has the same settings: no deadline, nothing random.
    quiet = hypothesis.settings(
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    hypothesis.settings.register_profile("numpy", quiet)
    before = hypothesis.settings.get_current_profile_name()
    hypothesis.settings.load_profile("numpy")
    try:
        with npx.np_default_dtype(), placed(backend), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(rewritten(source) if rewritten else source, str(path), "exec"), namespace)
    finally:
        hypothesis.settings.load_profile(before)
    tests = {name: found for name, found in namespace.items() if not name.startswith("__")}
    return {**tests, "NUMPYS_FILE": file, "BACKEND": backend}
