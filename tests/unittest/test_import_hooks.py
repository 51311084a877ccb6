"""Extensions of other libraries are registered when both are imported, in either order."""

import importlib
import sys

import pytest

from npcompat._libraries import import_hooks, replaced


@pytest.fixture
def library(tmp_path, monkeypatch):
    (tmp_path / "extended_library.py").write_text("registered = []\n")
    (tmp_path / "its_extension.py").write_text(
        "import extended_library\nextended_library.registered.append(__name__)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(import_hooks.EXTENSIONS, "extended_library", "its_extension")
    yield "extended_library"
    for name in ("extended_library", "its_extension"):
        sys.modules.pop(name, None)


def test_an_extension_is_registered_after_the_import_of_its_library(library):
    found = importlib.import_module(library)
    assert found.registered == ["its_extension"]
    assert type(found.__loader__).__name__ == "SourceFileLoader"
    assert found.__spec__.loader is found.__loader__
    assert importlib.import_module(library) is found and found.registered == ["its_extension"]


def test_an_extension_is_registered_where_its_library_was_imported_before(library, monkeypatch):
    monkeypatch.setattr(
        sys, "meta_path", [f for f in sys.meta_path if f is not import_hooks._Finder]
    )
    found = importlib.import_module(library)
    assert found.registered == []
    import_hooks.install()
    assert found.registered == ["its_extension"]


def test_a_library_that_is_missing_is_an_ordinary_import_error(monkeypatch):
    monkeypatch.setitem(import_hooks.EXTENSIONS, "no_such_library", "its_extension")
    with pytest.raises(ModuleNotFoundError, match="no_such_library"):
        importlib.import_module("no_such_library")
    assert importlib.util.find_spec("no_such_library") is None


def test_npcompat_imports_no_library_that_it_extends():
    names = {*import_hooks.EXTENSIONS, *replaced.REPLACED}
    assert names == {
        "astropy.table.table",
        "dask.array.backends",
        "dill",
        "einops",
        "gymnasium.spaces",
        "gymnasium.vector.vector_env",
        "h5py._hl.dataset",
        "joblib.hashing",
        "lightgbm.basic",
        "matplotlib.cbook",
        "networkx.convert",
        "numba",
        "numpy.testing",
        "pandas",
        "pint.delegates.formatter.html",
        "pint.delegates.formatter.latex",
        "pint.delegates.formatter.plain",
        "pyarrow",
        "scipy.linalg._matfuncs",
        "scipy.linalg.lapack",
        "scipy.ndimage",
        "scipy.ndimage._ndimage_api",
        "scipy.optimize._differentiable_functions",
        "scipy.sparse",
        "scipy.sparse._index",
        "scipy.sparse._lil",
        "scipy.sparse.linalg._interface",
        "sklearn.model_selection._search",
        "sklearn.utils._param_validation",
        "sklearn.utils.class_weight",
        "sparse",
        "torch",
        "torch.utils.data._utils.collate",
        "xarray",
        "xarray.core.variable",
        "xgboost.core",
    }
    import subprocess

    code = f"import sys, npcompat; print({names!r} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
