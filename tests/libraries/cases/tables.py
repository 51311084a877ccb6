"""Libraries of tables."""

from .base import LABELS, X, Y, case, frame, text


@case("pandas", "pandas", '`pandas.DataFrame({"a": a, "k": k}).groupby("k").sum()`', frame)
def _(of):
    import pandas

    return pandas.DataFrame({"a": of(Y), "k": of(LABELS)}).groupby("k").sum()


@case("pandas", "pandas", "`pandas.DataFrame(a).rolling(2).mean()`", frame)
def _(of):
    import pandas

    return pandas.DataFrame(of(X)).rolling(2).mean()


@case("pandas", "pandas", "`frame[mask]`", frame)
def _(of):
    import pandas

    return pandas.DataFrame(X)[of(Y > 3)]


@case("pandas", "pandas", "`series.loc[mask]`", frame)
def _(of):
    import pandas

    return pandas.Series(Y).loc[of(Y > 3)]


@case("pandas", "pandas", "`series.iloc[mask]`", frame)
def _(of):
    import pandas

    return pandas.Series(Y).iloc[of(Y > 3)]


@case("pandas", "pandas", "`frame.loc[mask, name] = a`", frame)
def _(of):
    import pandas

    found = pandas.DataFrame({"a": Y})
    found.loc[of(Y > 3), "a"] = of(Y)[of(Y > 3)]
    return found


@case("pandas", "pandas", "`series & a`, of integers", frame)
def _(of):
    import pandas

    found = pandas.Series(LABELS)
    found |= of(LABELS)
    return found & of(LABELS)


@case("pandas", "pandas", "`frame.groupby([a]).sum()`", frame)
def _(of):
    import pandas

    return pandas.DataFrame({"a": Y}).groupby([of(LABELS)]).sum()


@case("pandas", "pandas", "`pandas.factorize(a)`, and `unique`", frame)
def _(of):
    import pandas

    return pandas.Series(pandas.factorize(of(LABELS))[0])


@case("polars", "polars", '`polars.DataFrame({"a": a})`', frame)
def _(of):
    import polars

    return polars.DataFrame({"a": of(Y)})


@case("polars", "polars", '`polars.Series("a", a)`', frame)
def _(of):
    import polars

    return polars.Series("a", of(Y))


@case("polars", "polars", "`series + a`", frame)
def _(of):
    import polars

    return polars.Series("a", Y) + of(Y)


@case("PyArrow", "pyarrow", "`pyarrow.array(a)`", frame)
def _(of):
    import pyarrow

    return pyarrow.array(of(Y))


@case("PyArrow", "pyarrow", '`pyarrow.table({"a": a})`', lambda t: t.column("a").to_numpy())
def _(of):
    import pyarrow

    return pyarrow.table({"a": of(Y)})


@case("DuckDB", "duckdb", '`duckdb.sql("select sum(a) from f")`, of a frame', text)
def _(of):
    import duckdb
    import pandas

    f = pandas.DataFrame({"a": of(Y)})  # noqa: F841 (DuckDB finds it by its name)
    return duckdb.sql("select sum(a) from f").fetchall()


@case("xarray", "xarray", '`xarray.DataArray(a, dims=("x", "y")).mean("x")`')
def _(of):
    import xarray

    return xarray.DataArray(of(X), dims=("x", "y")).mean("x")


@case("xarray", "xarray", '`xarray.Dataset({"a": ("x", a)}).a[1:]`')
def _(of):
    import xarray

    return xarray.Dataset({"a": ("x", of(Y))}).a[1:]
