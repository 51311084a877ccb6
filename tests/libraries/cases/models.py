"""Statistics and models."""

import numpy as onp

from .base import X, Y, case


@case("statsmodels", "statsmodels", "`OLS(y, add_constant(a)).fit().params`")
def _(of):
    import statsmodels.api as sm

    return sm.OLS(of(Y), sm.add_constant(of(X[:, :2]))).fit().params


@case("patsy", "patsy", '`patsy.dmatrix("x", {"x": a})`')
def _(of):
    import patsy

    return patsy.dmatrix("x", {"x": of(Y)})


@case("lmfit", "lmfit", "`lmfit.models.LinearModel().fit(y, x=x)`", lambda r: r.best_fit)
def _(of):
    import lmfit

    return lmfit.models.LinearModel().fit(of(Y), x=of(onp.arange(6.0)))


@case("LightGBM", "lightgbm", "`lightgbm.Dataset(a, y)`, trained", lambda p: p)
def _(of):
    import lightgbm

    options = {"verbose": -1, "min_data_in_leaf": 1, "num_threads": 1, "min_data_in_bin": 1}
    data = lightgbm.Dataset(of(X), of(Y), params=options)
    return lightgbm.train(options, data, 2).predict(of(X))


@case("XGBoost", "xgboost", "`xgboost.DMatrix(a, y)`, trained")
def _(of):
    import xgboost

    model = xgboost.train({"nthread": 1}, xgboost.DMatrix(of(X), of(Y)), 2)
    return model.predict(xgboost.DMatrix(of(X)))


@case("NetworkX", "networkx", "`networkx.from_numpy_array(a)`", lambda g: len(g.edges))
def _(of):
    import networkx

    return networkx.from_numpy_array(of(X[:5]))


@case("Gymnasium", "gymnasium", "`Box(low, high).contains(a)`")
def _(of):
    import gymnasium

    space = gymnasium.spaces.Box(-100.0, 100.0, (6,), dtype="float64")
    return space.contains(of(Y))


@case("uncertainties", "uncertainties", "`unumpy.nominal_values(unumpy.uarray(a, s) + 1)`")
def _(of):
    from uncertainties import unumpy

    return unumpy.nominal_values(unumpy.uarray(of(Y), of(onp.ones(6))) + 1)


@case("Pint", "pint", '`Quantity(a, "metre").to("kilometre").magnitude`')
def _(of):
    import pint

    registry = pint.UnitRegistry()
    return registry.Quantity(of(Y), "metre").to("kilometre").magnitude


@case("Astropy", "astropy", "`units.Quantity(a, units.m).to(units.km).value`")
def _(of):
    from astropy import units

    return units.Quantity(of(Y), units.m).to(units.km).value


@case("Shapely", "shapely", "`shapely.Polygon(a).area`")
def _(of):
    import shapely

    return shapely.Polygon(of(onp.array([[0.0, 0], [2, 0], [2, 3]]))).area
