"""Expressions of libraries that ask for NumPy's arrays: with ours they give what they give with NumPy's.

Each line is evaluated twice, with `np` as NumPy and as npcompat; texts are compared.
"""

import hashlib
from typing import Any

import numpy as onp
import pytest

from npcompat import np, npx

pytestmark = pytest.mark.filterwarnings("ignore")

EXPRESSIONS = {
    "pandas": """
pd.DataFrame.from_records(records)
pd.DataFrame.from_records(records, index="a")
pd.DataFrame.from_dict({"a": a, "b": [a, a, a]})
pd.arrays.IntegerArray(i, m)
pd.arrays.FloatingArray(a, m)
pd.arrays.BooleanArray(m, m)
pd.arrays.NumpyExtensionArray(a)
pd.array(i, dtype="Int64")
series.add(i, fill_value=0)
series.pow(i, fill_value=1)
series.eq(a, fill_value=0)
series.rsub(i)
frame.mul(a, axis=0)
frame.floordiv(a[:2])
series.replace(a[:1] + 4, a[:1])
series.isin(a + 4)
series.where(m, a)
series.clip(a, a + 4)
series.reindex(np.array(["x", "q"]))
pd.cut(a, np.array([0.0, 1.5, 4.0]))
pd.Categorical.from_codes(i - 1, list("abc"))
pd.Series(i).value_counts(bins=np.array([0, 1, 4]))
pd.to_datetime(i, unit="D")
pd.Series(pd.date_range("2020", periods=3)) + np.array([1, 2, 3], "m8[D]")
pd.MultiIndex.from_product([i, np.array(["a"])])
pd.IntervalIndex.from_arrays(a, a + 1)
pd.Index(i).delete(np.array([0, 2]))
pd.Index(i).where(m, 0)
pd.Index(i).get_indexer(np.array([3, 9]))
frame.assign(c=a)
frame.dot(np.ones((2, 2)))
frame.groupby([i % 2, m]).sum()
frame.agg(lambda c: np.sum(np.asarray(c)))
frame.sample(2, weights=a, random_state=1)
frame.merge(frame, left_on=i, right_on=i).shape
pd.concat([series, series], keys=np.array([1, 2]))
series.quantile(np.array([0.25, 0.5]))
pd.crosstab(i, m)
pd.Series([a, a]).explode()
pd.DataFrame({"x": [a, a]}).to_json()
pd.DataFrame({"x": [a, i]})
pd.Series([a, i])
pd.Series([a, i]).str.get(1)
pd.Series(m) & m
frame == np.ones((3, 2))
np.ones(2) + frame
pd.util.hash_array(i)
""",
    "networkx": """
sorted(nx.Graph(M).edges(data=True))
sorted(nx.DiGraph(M).edges(data=True))
sorted(nx.MultiGraph(M).edges(data=True))
nx.adjacency_matrix(nx.to_networkx_graph(M)).toarray()
nx.spring_layout(nx.Graph(M), pos={0: a[:2], 1: a[1:]}, iterations=1, fixed=[0, 1])
""",
    "xarray": """
X.interp(x=np.array([15])).values
xr.Dataset({"v": X}).interp(x=np.array([15]), y=1.5)["v"].values
X.sel(x=np.array([19]), method="nearest").values
X.reindex(x=np.array([10, 30])).values
X.groupby_bins("x", np.array([5, 15, 25])).mean().values
X.drop_sel(x=np.array([10])).values
""",
    "matplotlib": """
picture(lambda axes: axes.boxplot(A))
picture(lambda axes: axes.violinplot(A))
picture(lambda axes: axes.hist(A, bins=2))
picture(lambda axes: axes.hist([a, a * 2]))
picture(lambda axes: axes.eventplot(A))
picture(lambda axes: axes.plot(A))
picture(lambda axes: axes.scatter(a, a, c=a, s=a))
picture(lambda axes: axes.fill_between(a, a, where=m))
picture(lambda axes: axes.contourf(A))
picture(lambda axes: axes.pcolormesh(A))
picture(lambda axes: axes.bar(a, a, yerr=np.stack([a, a]) / 9, color=[A[0] / 6] * 3))
""",
    "astropy": """
at.Table(A, names=("a", "b", "c"))
at.Table(rows=A, names=("a", "b", "c"))
at.Table(records)
at.Table([a, i])
at.Table({"a": a})[m]
at.Table({"a": a})[np.array([0, 2])]
""",
    "gymnasium": """
spaces.MultiDiscrete([2, 3]).contains(np.array([1, 2]))
spaces.MultiDiscrete([2, 3]).contains(np.array([1, 4]))
spaces.MultiDiscrete(np.array([2, 3]))
spaces.MultiBinary(3).contains(np.array([1, 0, 1], "i1"))
spaces.Box(np.zeros(2), np.ones(2)).contains(np.array([0.1, 0.2], "f4"))
spaces.Dict(a=spaces.MultiDiscrete([2])).contains({"a": np.array([1])})
spaces.Tuple([spaces.MultiDiscrete([2])]).contains((np.array([1]),))
""",
}
LINES = [(name, line) for name, text in EXPRESSIONS.items() for line in text.strip().splitlines()]


def picture(draw):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    figure = pyplot.figure()
    draw(figure.gca())
    figure.canvas.draw()
    pixels = onp.asarray(figure.canvas.buffer_rgba()).tobytes()
    pyplot.close(figure)
    return hashlib.md5(pixels).hexdigest()


def names(library: str, module: Any) -> dict[str, Any]:
    found = {
        "np": module,
        "picture": picture,
        "a": module.array([1.0, 2.0, 3.0]),
        "i": module.array([1, 2, 3]),
        "m": module.array([True, False, True]),
        "A": module.arange(6.0).reshape(2, 3),
        "M": module.array([[0.0, 1.0], [1.0, 0.0]]),
        "records": module.array([(1, 2.0), (3, 4.0)], dtype=[("a", int), ("b", float)]),
    }
    if library == "pandas":
        found["pd"] = pd = pytest.importorskip(library)
        found["series"] = pd.Series([5.0, 6.0, 7.0], index=list("xyz"))
        found["frame"] = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [4.0, 5.0, 6.0]})
    elif library == "xarray":
        found["xr"] = xr = pytest.importorskip(library)
        along = {"x": module.array([10, 20]), "y": found["i"]}
        found["X"] = xr.DataArray(found["A"], dims=("x", "y"), coords=along)
    elif library == "networkx":
        found["nx"] = pytest.importorskip(library)
    elif library == "astropy":
        found["at"] = pytest.importorskip("astropy.table")
    elif library == "gymnasium":
        found["spaces"] = pytest.importorskip("gymnasium.spaces")
    return found


@pytest.mark.parametrize(("library", "line"), LINES)
def test_an_expression(library, line):
    with npx.np_default_dtype():
        wanted = str(eval(line, names(library, onp)))
        assert str(eval(line, names(library, np))) == wanted
