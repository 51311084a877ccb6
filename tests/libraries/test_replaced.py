"""Functions of libraries that are replaced: NumPy's arrays in place of ours are the oracle."""

import numpy as onp
import pytest

from npcompat import np, npx
from npcompat._libraries.replaced import REPLACED

pytestmark = pytest.mark.filterwarnings("ignore")


def test_every_replaced_function_is_there():
    for places in REPLACED.values():
        for given in places:
            place = given if isinstance(given, str) else given.place
            module, _, path = place.partition(":")
            found = pytest.importorskip(module)
            for name in path.split("."):
                found = getattr(found, name)
            assert getattr(found, "__globals__", {}).get("__name__", "").endswith("replacing"), (
                place
            )


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_searches_of_scikit_learn_take_grids(backend):
    linear = pytest.importorskip("sklearn.linear_model")
    selection = pytest.importorskip("sklearn.model_selection")
    base = pytest.importorskip("sklearn.base")
    x = onp.random.RandomState(0).rand(20, 3)
    y = x @ [1.0, 2.0, 3.0]
    with npx.backend(backend):
        grid = {"alpha": np.logspace(-1, 1, 3), "fit_intercept": [True, False]}
        found = selection.GridSearchCV(linear.Ridge(), grid, cv=2).fit(x, y)
        assert type(base.clone(found).param_grid["alpha"]) is onp.ndarray
        assert len(selection.ParameterGrid([grid, {"alpha": np.ones(2)}])) == 8
        plain = {"alpha": [1.0, 2.0]}  # scikit-learn clones only what keeps its parameters
        search = selection.GridSearchCV(linear.Ridge(), plain)
        assert search.param_grid is plain and base.clone(search).param_grid == plain
        assert len(selection.ParameterGrid(grid)) == 6
        searched = selection.RandomizedSearchCV(
            linear.Ridge(), grid, n_iter=2, random_state=0, cv=2
        )
        searched.fit(x, y)
    wanted = {"alpha": onp.logspace(-1, 1, 3), "fit_intercept": [True, False]}
    expected = selection.GridSearchCV(linear.Ridge(), wanted, cv=2).fit(x, y)
    assert found.best_params_["fit_intercept"] == expected.best_params_["fit_intercept"]
    assert found.best_params_["alpha"] == pytest.approx(expected.best_params_["alpha"])


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_rows_of_several_lengths_in_files_of_h5py(backend):
    h5py = pytest.importorskip("h5py")
    dtype = h5py.vlen_dtype("i4")
    with npx.backend(backend):
        rows = onp.empty(2, dtype=object)
        rows[0], rows[1] = np.arange(2), np.arange(3)
        with h5py.File("rows", "w", driver="core", backing_store=False) as file:
            found = [file.create_dataset("a", data=rows, dtype=dtype)]
            found.append(file.create_dataset("b", data=np.array(rows, dtype=object), dtype=dtype))
            found.append(file.create_dataset("c", (2,), dtype=dtype))
            found[2][:] = rows
            file.attrs.create("d", rows, dtype=dtype)
            found.append(file.attrs["d"])
            assert [[x.tolist() for x in d] for d in found] == [[[0, 1], [0, 1, 2]]] * 4
    assert type(rows[0]) is np.ndarray


def test_class_weights_of_scikit_learn():
    weights = pytest.importorskip("sklearn.utils.class_weight")
    y = [0, 0, 1, 2, 2, 2]
    found = weights.compute_class_weight("balanced", classes=np.unique(np.array(y)), y=np.array(y))
    expected = weights.compute_class_weight("balanced", classes=onp.unique(y), y=onp.array(y))
    onp.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("solver", ["cg", "bicgstab", "gmres"])
def test_iterative_solvers_take_dense_matrices(solver):
    linalg = pytest.importorskip("scipy.sparse.linalg")
    matrix, b = onp.eye(3) * [1.0, 2.0, 4.0], onp.array([1.0, 2.0, 3.0])
    found, status = getattr(linalg, solver)(np.array(matrix), np.array(b))
    assert status == 0
    onp.testing.assert_allclose(found, [1.0, 1.0, 0.75], rtol=1e-4)
    assert linalg.aslinearoperator(np.array(matrix)).shape == (3, 3)


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_positions_of_labelled_arrays(backend):
    xarray = pytest.importorskip("xarray")
    programs = (
        lambda d, i, k, b: d[i],
        lambda d, i, k, b: d[dict(x=i)],
        lambda d, i, k, b: d[:, i],
        lambda d, i, k, b: d.isel(x=k, y=i),
        lambda d, i, k, b: d.isel(x=b),
        lambda d, i, k, b: d.sel(x=10 * i),
        lambda d, i, k, b: d.to_dataset(name="v").isel(x=k, y=i)["v"],
        lambda d, i, k, b: d.variable[i],
    )
    for program in programs:
        outcomes = []
        for xp in (np, onp):
            labelled = xarray.DataArray(
                onp.arange(18.0).reshape(6, 3), dims=("x", "y"), coords={"x": onp.arange(6) * 10}
            )
            with npx.backend(backend):
                found = program(
                    labelled, xp.array(1), xp.array([0, 2]), xp.array([True, False] * 3)
                )
            outcomes.append((type(found), found.dims, onp.asarray(found.data).tolist()))
        assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("backend", ["numpy", "jax"])
@pytest.mark.parametrize("method", ["L-BFGS-B", "SLSQP", "TNC", "trust-constr", "BFGS"])
def test_gradients_of_scipys_optimizers(method, backend):
    optimize = pytest.importorskip("scipy.optimize")
    with npx.backend(backend), npx.np_default_dtype():
        wanted = np.array([1.0, 2.0, 3.0])
        found = optimize.minimize(
            lambda x: ((x - wanted) ** 2).sum(),
            np.zeros(3),
            jac=lambda x: 2 * (x - wanted),
            method=method,
            bounds=[(0, 5)] * 3 if method != "BFGS" else None,
        )
    assert found.x == pytest.approx([1, 2, 3], abs=1e-3)


@pytest.mark.parametrize("method", ["lm", "trf", "dogbox"])
def test_jacobians_of_scipys_least_squares(method):
    optimize = pytest.importorskip("scipy.optimize")
    with npx.np_default_dtype():
        options = {} if method == "lm" else {"jac_sparsity": np.ones((2, 2))}
        for given in ({"jac": lambda x: np.diag(2 * x)}, options):
            found = optimize.least_squares(
                lambda x: x**2 - np.array([4.0, 9.0]), np.ones(2), method=method, **given
            )
            assert found.x == pytest.approx([2, 3])


def test_scikit_learn_copies_the_filters_of_warnings():
    linear = pytest.importorskip("sklearn.linear_model")
    selection = pytest.importorskip("sklearn.model_selection")
    x = np.arange(40.0).reshape(20, 2) % 7
    for workers in (None, 2):
        scores = selection.cross_val_score(linear.Ridge(), x, x[:, 0], n_jobs=workers)
        assert scores.shape == (5,)


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_own_objectives_of_boosted_trees(backend):
    x = onp.arange(600.0).reshape(200, 3) % 7
    y = x.sum(1)
    calls = []

    def objective(found, data):
        calls.append(1)
        gradients = np.array(found - data.get_label())
        return gradients, np.ones_like(gradients)

    with npx.backend(backend):
        xgboost = pytest.importorskip("xgboost")
        made = xgboost.train({"nthread": 1}, xgboost.DMatrix(x, y), 2, obj=objective)
        assert made.num_boosted_rounds() == 2
        lightgbm = pytest.importorskip("lightgbm")
        options = {"verbose": -1, "num_threads": 1, "objective": objective}
        assert lightgbm.train(options, lightgbm.Dataset(x, y), 2).num_trees() == 2
    assert len(calls) == 4


def test_functions_of_matrices():
    linalg = pytest.importorskip("scipy.linalg")
    found = linalg.funm(onp.diag([1.0, 2.0]), lambda x: np.exp(np.array(x)))
    assert found == pytest.approx(onp.diag(onp.exp([1.0, 2.0])))


@pytest.mark.parametrize("backend", ["numpy", "jax"])
@pytest.mark.parametrize("spec", ["", ".2f", "~P", ".3f~P", ".1f~C", "L", "H", ".1fLx"])
def test_texts_of_quantities_of_pint(backend, spec):
    pint = pytest.importorskip("pint")
    metre = pint.UnitRegistry().metre
    with npx.backend(backend):
        found = np.array([1.0, 2.5], dtype="float64") * metre
    assert format(found, spec) == format(onp.array([1.0, 2.5]) * metre, spec)


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_lists_of_arrays_in_pyarrow(backend):
    pyarrow = pytest.importorskip("pyarrow")
    with npx.backend(backend):
        rows = [np.arange(2), np.arange(3)]
        assert pyarrow.array(rows).to_pylist() == [[0, 1], [0, 1, 2]]
        assert pyarrow.table({"a": rows}).to_pydict() == {"a": [[0, 1], [0, 1, 2]]}
    assert pyarrow.array([[1], [2, 3]]).to_pylist() == [[1], [2, 3]]


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_percentiles_of_dasks_arrays(backend):
    dask = pytest.importorskip("dask.array")
    with npx.backend(backend):
        found = dask.percentile(dask.from_array(np.arange(6.0), chunks=3), [50]).compute()
    expected = dask.percentile(dask.from_array(onp.arange(6.0), chunks=3), [50]).compute()
    assert found.tolist() == expected.tolist()


def test_outputs_of_numbas_stencils():
    numba = pytest.importorskip("numba")
    kernel = numba.stencil(lambda a: a[0, 1] + a[0, -1])
    with npx.backend("numpy"):
        a, out = np.arange(12.0).reshape(3, 4), np.zeros((3, 4))
        kernel(a, out=out)
        assert out.tolist() == kernel(onp.asarray(a)).tolist()
        out.flags.writeable = False
        with pytest.raises(ValueError, match="read-only"):
            kernel(a, out=out)


@pytest.mark.parametrize("backend", ["numpy", "jax"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "int64", "?"])
def test_scalars_in_pyarrow(backend, dtype):
    pyarrow = pytest.importorskip("pyarrow")
    theirs = onp.array([1, 0], dtype)
    with npx.backend(backend):
        ours = np.array(theirs)
        for make in (
            lambda a: pyarrow.scalar(a[0]),
            lambda a: pyarrow.scalar([a[0]]),
            lambda a: pyarrow.array([a[0], None]),
            lambda a: pyarrow.array([{"a": a[0], "b": a}]),
            lambda a: pyarrow.Table.from_pylist([{"a": a[0]}]),
        ):
            assert make(ours).equals(make(theirs))
    with pytest.raises(pyarrow.ArrowInvalid, match="object"):
        pyarrow.array([object()])


@pytest.mark.parametrize("backend", ["numpy", "jax"])
@pytest.mark.parametrize("dtype", ["M8[D]", "M8[h]", "M8[s]", "M8[ns]", "m8[W]", "m8[ms]"])
def test_dates_in_xarray_have_the_units_of_numpys(backend, dtype):
    xarray = pytest.importorskip("xarray")
    theirs = onp.array([1, 2], dtype)
    with npx.backend(backend):
        ours = np.array(theirs)
        for make in (
            lambda a: xarray.DataArray(a),
            lambda a: xarray.DataArray(a[0]),
            lambda a: xarray.DataArray(a) + onp.timedelta64(1, "h"),
            lambda a: xarray.Dataset({"a": ("x", a)}).a,
            lambda a: xarray.DataArray([1, 2], dims="x", coords={"x": a}).x,
            lambda a: xarray.DataArray([1, 2], dims="x", coords={"y": ("x", a)}).y,
        ):
            found, expected = make(ours), make(theirs)
            assert found.dtype == found.values.dtype == expected.dtype
            assert found.identical(expected)
        assert type(xarray.DataArray(ours).data) is np.ndarray


@pytest.mark.parametrize("backend", ["numpy", "jax"])
@pytest.mark.parametrize("dtype", ["float32", "int16", "complex64", "M8[D]", "U3", "?", "O"])
def test_hashes_of_joblib_are_those_of_numpys(backend, dtype):
    joblib = pytest.importorskip("joblib")
    theirs = onp.arange(6).astype(dtype).reshape(2, 3)
    with npx.backend(backend):
        ours = np.array(theirs)
        for make in (
            lambda a: a,
            lambda a: a.T,
            lambda a: a[:, ::2],
            lambda a: {"a": [a, a[0, 0]]},
        ):
            assert joblib.hash(make(ours)) == joblib.hash(make(theirs))


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_parameters_of_scikit_learn_that_must_be_arrays(backend):
    processes = pytest.importorskip("sklearn.gaussian_process")
    image = pytest.importorskip("sklearn.feature_extraction.image")
    with npx.backend(backend):
        found = processes.GaussianProcessRegressor(alpha=np.array([0.1, 0.2]))
        found.fit([[1.0], [2.0]], [1.0, 2.0])
        patches = image.extract_patches_2d(np.arange(6.0).reshape(2, 3), (2, 2))
    expected = processes.GaussianProcessRegressor(alpha=onp.array([0.1, 0.2], "float32"))
    expected.fit([[1.0], [2.0]], [1.0, 2.0])
    onp.testing.assert_allclose(found.predict([[1.5]]), expected.predict([[1.5]]))
    assert patches.tolist() == [[[0, 1], [3, 4]], [[1, 2], [4, 5]]]


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_datasets_of_xarray_show_elements(backend):
    xarray = pytest.importorskip("xarray")
    with npx.backend(backend):
        ours = xarray.Dataset({"a": ("x", np.arange(3))})
    assert repr(ours) == repr(xarray.Dataset({"a": ("x", onp.arange(3))}))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_new_columns_of_frames_by_masks(backend):
    pandas = pytest.importorskip("pandas")
    with npx.backend(backend):
        for mask in ([True, False, True], np.array([True, False, True])):
            found = pandas.DataFrame({"a": onp.arange(3)})
            found.loc[mask, "f"] = np.array([1.0, 2.0])
            assert found["f"].dropna().tolist() == [1, 2]
            assert found["f"].index[found["f"].notna()].tolist() == [0, 2]


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_labels_of_samples_in_batches_of_torch(backend):
    data = pytest.importorskip("torch.utils.data")
    for labels in (onp.arange(6), onp.arange(6.0), onp.arange(6.0, dtype="float32")):
        with npx.backend(backend):
            ours = np.array(labels, dtype=labels.dtype)
        (found,) = data.DataLoader([(ours[i], ours[i : i + 1]) for i in range(3)], 3)
        (expected,) = data.DataLoader([(labels[i], labels[i : i + 1]) for i in range(3)], 3)
        for a, b in zip(found, expected, strict=True):
            assert a.dtype == b.dtype and a.tolist() == b.tolist()


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_infos_of_environments_of_gymnasium_are_batched(backend):
    gym = pytest.importorskip("gymnasium")

    class Environment(gym.Env):
        observation_space = gym.spaces.Box(-10, 10, (2,))
        action_space = gym.spaces.Discrete(2)

        def __init__(self, space):
            self.space = space

        def reset(self, *, seed=None, options=None):
            info = {"at": self.space.arange(2), "n": 3, "inner": {"x": self.space.array(1.5)}}
            return self.space.zeros(2), info

    with npx.backend(backend), npx.np_default_dtype(True):
        found, expected = [
            gym.vector.SyncVectorEnv([lambda s=space: Environment(s)] * 2).reset()
            for space in (np, onp)
        ]
    assert found[0].tolist() == expected[0].tolist()
    assert str(found[1]) == str(expected[1])
