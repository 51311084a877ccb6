"""Arrays beside objects of pandas, where pandas asks whether they are NumPy's; NumPy's arrays in
their place are the oracle.
"""

import numpy as onp
import pytest

from npcompat import np

from .beside import assert_as_with_numpys, lines_of

pandas = pytest.importorskip("pandas")

ANYWHERE = """
d + z | z + d | d - z | z - d | d * z | z * d | d ** z | d // z | d > z | z < d | d == z | -z * d
d.add(z) | d.rsub(z) | d.eq(z) | d.lt(z) | d.pow(z) | d.fillna(z) | d.replace(1.0, z)
d.where(d > 1, z) | d.mask(d > 1, z) | d.clip(z, z + 1) | d.clip(lower=z) | d.assign(c=z)
d.shift(1, fill_value=z) | d.reindex([0, 5], fill_value=z) | d.quantile(z / 4) | d.isin([z])
s + z | z + s | s.where(s > 1, z) | s.mask(s > 1, z) | s.clip(z) | s.fillna(z) | s.between(z, z + 1)
s.searchsorted(z) | n + i | n * i | n > i | n + w | n == w | t * i | h + e | h - e | t / z
i64 & i | i64 // i | i64.mod(i) | i64.where(i64 > 1, i) | x + z | z * x | x == z | x.insert(0, z)
changed(d, (0, "a"), z) | changed(d, d.a > 1, z) | put(d, "c", z) | put(d, "a", z) | put(d, d > 1, z)
put(d, two > 1, z) | put(d, ["a", "b"], two) | put(s, s > 1, z) | put(n, 0, i) | inserted(d, z)
pd.Series(z, index=[0, 1]) | pd.DataFrame(z, index=[0], columns=["a"]) | pd.DataFrame({"a": z, "b": w})
d + two | two + d | d * row | d > two | two < d | d.add(two) | d.sub(two) | d.eq(two) | d.T + two
d.where(d > 1, two) | d.where(two > 1) | d.mask(two > 1, two) | d[two > 1] | d @ two | d.dot(two)
d + w | w + d | d.add(w) | d.mul(w, axis=0) | d == w | s + w | s == w | s.where(w > 1, w) | s @ w
d.groupby(k).sum() | d.groupby([k]).sum() | s.groupby(k).sum() | d.set_index(w) | d.iloc[k - 1]
pd.unique(k) | pd.factorize(k)[0] | pd.to_timedelta(i, "s") | pd.cut(s, 2) | st == w
repr(d > z) | (d * z).to_json() | (d * z).describe() | (d * z).sort_values("a") | pd.merge(d * z, d)
(d * z).groupby("a").sum() | (d > z).to_string() | (d * z)[(d * z).a > 4]
pd.array(day) | pd.array(ns) | pd.array(f4) | pd.array(k) | pd.array(s2) | pd.array(f4 > 1)
pd.PeriodIndex(day, freq="D") | h.searchsorted(ns) | pd.Index(h).searchsorted(day)
put(h, slice(0, 2), day) | put(h, slice(None), ns) | put(h, m, day[:1]) | put(h, m, ns[:1])
take(k, k - 1) | take(n.array, k) | s.replace(w[0], 100) | s.replace([w[0], w[1]], 7)
d.replace(w[0], w[1]) | d.replace({"a": {1.0: w[1]}})
d.iloc[:, k - 1] | d.iloc[k - 1, k - 1] | d.iloc[m, k - 1] | d.iloc[k - 1, 0] | d.loc[k - 1, m]
placed(d, (q, q), -1) | placed(d, (q, [0]), w[:, None]) | placed(d, (m, k - 1), w) | placed(d, (slice(None), m), two[:, :1])
"""
KEYS = """
n.array[m] | n.array[k] | n[m] | put(n.array, m, 5) | put(n, m, 5) | changed(n, m, 5)
b.array[m] | st.array[m] | put(st.array, m, "z") | h.array[m] | c[m] | put(c, m, "y") | iv[m]
"""


def changed(frame, key, value):
    frame.loc[key] = value
    return frame


def placed(frame, key, value):
    frame.iloc[key] = value
    return frame


def put(frame, key, value):
    frame[key] = value
    return frame


def inserted(frame, value):
    frame.insert(0, "z", value)
    return frame


def _names(xp):
    pd = pandas
    return {
        "pd": pd,
        "changed": changed,
        "placed": placed,
        "put": put,
        "inserted": inserted,
        "d": pd.DataFrame({"a": [1.0, 3.0], "b": [1.0, 2.0]}),
        "i64": pd.DataFrame({"a": [1, 3], "b": [1, 2]}),
        "s": pd.Series([1.0, 2.0]),
        "n": pd.Series([1, 2], dtype="Int64"),
        "h": pd.Series(pd.date_range("2024", periods=2)),
        "t": pd.to_timedelta([1, 2]),
        "x": pd.Index([1.0, 2.0]),
        "st": pd.Series(["x", "y"]),
        "z": xp.array(2.0, dtype="float64"),
        "i": xp.array(1, dtype="int64"),
        "e": xp.array(1, dtype="m8[D]"),
        "w": xp.array([1.0, 2.0], dtype="float64"),
        "k": xp.array([1, 1], dtype="int64"),
        "q": xp.array([0, 1], dtype="int64"),
        "m": xp.array([True, False]),
        "day": xp.array(["2024-01-01", "2024-01-03"], dtype="M8[D]"),
        "ns": xp.array(["2024-01-01", "2024-01-03"], dtype="M8[ns]"),
        "f4": xp.array([1.5, 2.5], dtype="float32"),
        "s2": xp.array(["ab", "c"], dtype="S2"),
        "b": pd.Series([True, False], dtype="boolean"),
        "c": pd.Categorical(["x", "y"]),
        "iv": pd.arrays.IntervalArray.from_breaks([0, 1, 2]),
        "take": pd.api.extensions.take,
        "row": xp.array([[1.0, 2.0]], dtype="float64"),
        "two": xp.array([[1.0, 2.0], [3.0, 4.0]], dtype="float64"),
    }


def _described(found):
    """Describe a result: its classes, dtypes and elements, and whether pandas' memory is NumPy's."""
    if isinstance(found, pandas.DataFrame | pandas.Series):
        blocks = [type(block.values).__module__.partition(".")[0] for block in found._mgr.blocks]
        dtypes = str(found.dtypes)
        return type(found).__name__, found.to_string(), dtypes, blocks
    if isinstance(found, onp.ndarray | np.ndarray):
        return found.dtype, found.tolist()
    return type(found).__name__, repr(found)


@pytest.mark.parametrize("backend", ["numpy", "jax"])
@pytest.mark.parametrize("line", lines_of(ANYWHERE))
def test_pandas_takes_arrays_for_numpys(line, backend):
    assert_as_with_numpys(line, _names, _described, backend)


@pytest.mark.parametrize("backend", ["numpy", "jax"])
@pytest.mark.parametrize("line", lines_of(KEYS))
def test_pandas_takes_keys_without_a_warning(line, backend):
    assert_as_with_numpys(line, _names, _described, backend, warned="error")


def test_a_frame_beside_an_array_holds_memory_of_numpys():
    frame = pandas.DataFrame({"a": [1.0, 3.0], "b": [1.0, 2.0]})
    recorded = np.array(2.0)
    recorded.attach_grad()
    for made in (frame * recorded, recorded - frame, frame["a"].clip(recorded).to_frame()):
        assert all(type(block.values) is onp.ndarray for block in made._mgr.blocks)
    assert (frame * np.array(2.0)).to_json() == '{"a":{"0":2.0,"1":6.0},"b":{"0":2.0,"1":4.0}}'
