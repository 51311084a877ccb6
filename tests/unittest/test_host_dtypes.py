"""Arrays of what XLA has not: objects, strings, dates, records, long doubles, swapped bytes.

They live on the host, whole NumPy with them.
"""

import ast
import copy
import datetime
import decimal
import io
import operator
import pickle
import warnings
from fractions import Fraction

import numpy as onp
import pytest
from oracle import agrees

from npcompat import autograd, np, npx

PROGRAMS = {
    "strings": """
s = np.array(['b', 'a', 'ccc'])
[s, s[0], s[1:], s.dtype, s + 'x', s == 'a', s != 'a', s < 'b', np.sort(s), s.argsort(), s.max(), np.argmin(s), np.unique(s, return_inverse=True)]
[np.isin(s, ['a']), s[s != 'a'], np.where(s == 'a', s, 'z'), np.concatenate([s, s]), s.reshape(3, 1), s.tolist(), s.astype('S'), np.stack([s, s]).T]
[np.searchsorted(np.sort(s), 'b'), np.repeat(s, 2), s[[0, 2]], np.char.add(s, 'y'), np.strings.upper(s), np.strings.str_len(['a', 'bb']), np.isin('a', s)]
[np.flip(s), np.roll(s, 1), np.tile(s, 2), np.broadcast_to(s, (2, 3)), np.array_equal(s, s), s.copy(), np.append(s, 'q'), np.insert(s, 0, 'w')]
[np.delete(s, 0), np.full((2,), 'a'), s.item(0), list(s), 'a' in s, len(s), s.nbytes, np.split(s, 3), s.take([0]), np.resize(s, 4), np.count_nonzero(s)]
[np.array(['1', '2']).astype(int), np.array(['1.5']).astype('f4'), np.array([1, 2]).astype(str), np.array([1.5]).astype('S4'), np.zeros(2, 'U3')]
[np.empty(2, 'S2'), np.frombuffer(b'abcd', dtype='S2'), np.array(b'x'), np.result_type('U1', 'U5'), np.union1d(s, ['z']), np.setdiff1d(s, ['a'])]
[s[0].upper(), s[0] + 'x', isinstance(s[0], str), str(s), repr(s), np.array2string(s), pickle.loads(pickle.dumps(s)), copy.deepcopy(s)]
s[0] = 'longer'
v = s.view()
v[1] = 'q'
s += '!'
[s, v.base is s, np.shares_memory(s, v), s.fill('z'), s]
np.array([1, 2]) == 'a'
np.array([1, 2]) != 'a'
s[5]
s * 2
np.sin(s)
""",
    "objects": """
o = np.array([[1, 2], [3, 4]], dtype=object)
m = np.array([[1, None], ['x', 4.0]], dtype=object)
[o, o + 1, 1 - o, o * o, o ** 2, o % 2, o // 2, o / 2, -o, abs(o), o < 2, o == 1, o.T, o @ o, np.dot(o, o), np.tensordot(o, o, 1), np.einsum('ij->i', o)]
[o.sum(), o.sum(axis=1), o.prod(), o.cumsum(), o.mean(), o.mean(axis=0), o.std(), o.min(axis=0), o.max(), o.any(), o.all(), o.argmax(), np.sort(o)]
[np.outer(o[0], o[1]), np.trace(o), np.kron(o, o), np.inner(o, o), np.logical_and(o, o), np.add.reduce(o), np.floor(o), np.diag(o[0]), np.tril(o)]
[m, m[0], m[0, 1], m[1, 0], m[:, 1], m[m != None], m[[1, 0]], m.flat[2], list(m.flat), m.ravel(), m.tolist(), np.nonzero(m), m.item(1, 0), m.astype(bool)]
[m.take([0, 3]), np.choose([0, 1], [m[0], m[1]]), np.select([[True, False]], [m[0]], None), np.where([True, False], m[0], m[1]), np.pad(m, 1)]
[np.vstack([m, m]), np.block([m, m]), np.moveaxis(m, 0, 1), np.delete(m, 0, 0), np.meshgrid(m[0], m[1]), np.squeeze(m[:1])]
[np.zeros(2, object), np.ones(2, object), np.empty(2, object), np.full(2, None), np.array([None, None]), np.array([[1, 2], [3, 4]], dtype=object, ndmax=1)]
[np.array([1, 2]) + decimal.Decimal(1), decimal.Decimal(1) + np.array([1, 2]), np.array([1, 2]) == None, np.array(1) != None, np.array([1.5]).astype(object)]
[np.array([1.5, 2.5]) + o[0], np.concatenate([np.array([1.5]), o[0]]), np.frompyfunc(lambda a, b: a + b, 2, 1)(o, o), np.vectorize(str)(o)]
w = np.empty(2, dtype=object)
w[0] = [1, 2]
w[1] = {}
[w, w[0] is w.tolist()[0]]
v = o[::-1]
v[0, 0] = 'z'
o[1] += 1
[o, v.base is o]
np.sin(o)
m + 1
""",
    "dates": """
d = np.array(['2020-01-01', 'NaT', '2021-03-01'], dtype='M8[D]')
e = d[::2]
t = np.array([1, 2], dtype='m8[s]')
[d, d[0], d + 1, e - e[0], e[1] > e[0], e.max(), e.min(), np.sort(d), d.argsort(), np.argmin(d), d.astype('M8[M]'), np.isnat(d), (e - e[0]).astype('i8')]
[np.mean(e - e[0]), d.astype(str), np.busday_count(e[0], e[1]), np.is_busday(e), np.datetime_as_string(e), np.diff(e), np.clip(e, e[0], e[0]), np.unique(e)]
[t * 2, t / np.timedelta64(1, 's'), t.sum(), t.astype(float), -t, abs(t), t // np.timedelta64(2, 's'), np.timedelta64(3, 's') + t, np.cumsum(t)]
[np.arange(datetime.date(2020, 1, 1), datetime.date(2020, 1, 4)), np.arange(datetime.timedelta(0), datetime.timedelta(seconds=3), datetime.timedelta(seconds=1))]
[np.arange(np.timedelta64(0), np.timedelta64(3), dtype='int64'), np.arange(np.datetime64('2020-01-01'), np.datetime64('2020-01-03'), dtype='int64')]
[np.arange('2020-01', '2020-04', dtype='M8[M]'), np.arange(np.datetime64('2020-01-01'), np.datetime64('2020-01-04')), np.full(2, np.datetime64('2020'))]
[np.array([datetime.datetime(2020, 1, 1)], dtype='M8[s]'), e.astype(object), e.tolist(), np.isfinite(d), np.divmod(t, np.timedelta64(2, 's')), e[0].item()]
[np.zeros(2, 'M8[D]'), np.linspace(0, 1, 3).astype('m8[s]'), d.view('i8'), np.flatnonzero(np.isnat(d)), e == np.datetime64('2020-01-01')]
[np.maximum.reduce(d), np.minimum.accumulate(e), np.add.reduce(t), np.add.accumulate(t), np.add.reduceat(t, [0, 1]), np.fmax.reduce(d)]
d[0] = 'NaT'
e += np.timedelta64(1, 'D')
[d, e]
d * 2
np.sqrt(t)
""",
    "records": """
a = np.array([(4, 'x', (2.0, 3.0)), (1, 'yy', (5.0, 6.0))], dtype=[('i', 'i4'), ('s', 'U3'), ('p', [('u', 'f4'), ('v', 'f4')])])
[a, a['i'], a['p']['u'], a[['i', 's']], a[0], a[0]['i'], a[a['i'] > 1], a.dtype.names, a.tolist(), a.reshape(1, 2), a.copy(), np.concatenate([a, a]), a.nbytes]
[np.sort(a, order='i'), a.argsort(order=['i', 's']), np.partition(a, 0, order='i'), np.argpartition(a, 0, order='i'), a == a, a != a, np.empty_like(a).dtype]
[np.zeros(2, dtype=a.dtype), a.item(0), np.unique(a['s']), a.view('u1').shape, a['i'].sum(), a['p']['u'].mean(), np.rec.array(a).i]
f = a['i']
f[:] += 10
a['p']['u'][0] = 99
a[1]['s'] = 'z'
a['s'] = 'k'
[a, f, np.shares_memory(f, a)]
a[0] = (9, 'n', (0, 0))
a['missing']
a + 1
[np.count_nonzero(a), np.count_nonzero(a[0]), np.count_nonzero(np.array(a[0]))]
np.count_nonzero(np.array(a[0]), axis=-1)
np.count_nonzero(a, axis=0)
""",
    "files": """
f = io.BytesIO()
s = np.array(['a', 'bc'])
np.save(f, s)
f.seek(0)
np.load(f)
[np.genfromtxt(['a,1', 'b,2'], delimiter=',', dtype=None, encoding='utf8'), np.loadtxt(['1 a', '2 b'], dtype=str), np.loadtxt(['1 2'], dtype=[('x', int), ('y', float)])]
""",
    "long doubles and swapped bytes": """
l = np.array([1, 2], dtype='g')
b = np.array([1, 2], dtype='>i4')
[l, l * l, np.exp(l), l.mean(), l.std(), np.dot(l, l), l @ l, l[0], l.sum(dtype='f8'), l.astype('G'), np.zeros(2, 'g'), np.arange(3, dtype='g'), l.astype('f4')]
[np.array([np.nextafter(l[0], 9, dtype='g'), l[1]]), np.array([np.array(l[0]), 1.0]), np.array([np.array('2020-01', 'M8[M]'), np.array('2021-01-02', 'M8[D]')])]
[np.concatenate([l, [1.0]]), np.linspace(0, 1, 3, dtype='g'), np.array([1.5]).astype('g'), np.array([1.5]) + l]
[b, b.dtype, b + 1, b.sum(), b.astype('<i4'), b.byteswap(), b.view('<i4'), b[0], np.array([1.5], '>f8') * 2, np.zeros(2, '>f4')]
b[0] = 7
b
""",
}


def run(xp, program):
    """Evaluate each expression of a program; return values as text, or classes of exceptions."""
    names = {
        "np": xp,
        "copy": copy,
        "datetime": datetime,
        "decimal": decimal,
        "io": io,
        "pickle": pickle,
    }
    found = []
    for statement in ast.parse(program).body:
        parts = [statement]
        if isinstance(statement, ast.Expr):
            parts = (
                statement.value.elts if isinstance(statement.value, ast.List) else [statement.value]
            )
        for part in parts:
            source = ast.unparse(part)
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    found.append(
                        (
                            source,
                            repr(eval(source, names))
                            if isinstance(part, ast.expr)
                            else exec(source, names),
                        )
                    )
            except Exception as error:
                found.append((source, type(error).__name__))
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_do_what_they_do_with_numpy(name, backend):
    with npx.np_default_dtype(True):
        found = run(np, PROGRAMS[name])
    for (source, mine), (_, theirs) in zip(found, run(onp, PROGRAMS[name]), strict=True):
        assert mine == theirs, source


@pytest.mark.parametrize("dtype", ["O", "U3", "M8[s]", "g", ">f4", [("a", "i4")]], ids=str)
def test_a_compiled_function_says_why_it_does_not_take_them(dtype):
    a = np.zeros(2, dtype)
    for function, arguments in (
        (lambda x: x, (a,)),
        (lambda: a.copy(), ()),
        (lambda: np.zeros(2, dtype), ()),
    ):
        with pytest.raises(TypeError, match="live on the host: XLA has no such dtype"):
            npx.jit(function)(*arguments)
    assert a.to_device("cpu").dtype == dtype  # it is there


def test_no_number_is_none():
    for x in (np.ones((2, 3)), np.array(1), np.ones(2)[0]):
        for function in (lambda x: x == None, lambda x: x != None):  # noqa: E711
            found, expected = function(x), function(x.asnumpy())
            assert (
                found.tolist() == expected.tolist() == npx.jit(function)(x).tolist()
                and found.dtype == bool
            )


def test_functions_of_other_libraries_run_on_the_host_and_are_not_differentiated():
    special = pytest.importorskip("scipy.special")
    x = np.array([0.5, 1.5])
    found = special.gammainc(x, 2.0)
    assert type(found) is np.ndarray and found.dtype == onp.float32
    onp.testing.assert_allclose(found.asnumpy(), special.gammainc(x.asnumpy(), 2.0), rtol=1e-6)
    out = np.zeros(2)
    assert special.expit(x, out=out) is out
    onp.testing.assert_allclose(out.asnumpy(), special.expit(x.asnumpy()), rtol=1e-6)
    with pytest.raises(TypeError, match="Cannot cast"):
        special.expit(x, out=np.zeros(2, int))
    x.attach_grad()
    with autograd.record(), pytest.raises(TypeError, match=r"derivative .* is not known"):
        special.gammainc(x, 2.0)


def test_elements_of_an_iteration_are_the_objects(backend):
    assert [type(x) for x in np.array([None, 1, "a"], dtype=object)] == [type(None), int, str]
    assert all(isinstance(x, onp.int64) and x.ndim == 0 for x in np.array([1, 2]))


KINDS_OF_OBJECTS = {
    "lists": [[1], [2, 3], []],
    "tuples": [(1, 2), (3,), (0, 5)],
    "dicts": [{1: 2}, {}, {3: 4}],
    "fractions": [Fraction(1, 2)] * 3,
    "arrays": [onp.ones(2)] * 3,
}
OF_OBJECTS = """
o.sum() | np.sum(o) | np.add.reduce(o) | o.max() | np.min(o) | np.maximum.reduce(o) | o.prod() | np.take(o, 1)
o.take(1) | o[1] | o.item(1) | np.trace(o.reshape(1, 3)) | np.nansum(o) | np.nanmax(o) | np.logical_or.reduce(o)
np.logical_and.reduce(o) | o.dot(o) | np.inner(o, o) | np.vdot(o, o) | np.einsum('i->', o) | o.sum(keepdims=True)[0]
np.sum(o.reshape(1, 3), axis=(0, 1)) | o.reshape(3, 1).sum(axis=1)[0] | o.cumsum() | np.add(o, o)[2] | o[:0].sum()
o.squeeze()[2] | next(iter(o)) | o.tolist() | np.sum(o, axis=0, dtype=object)
"""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS_OF_OBJECTS)
def test_objects_stay_what_they_are(kind):
    def found_by(module, expression):
        o = module.empty(3, object)
        for i, element in enumerate(KINDS_OF_OBJECTS[kind]):
            o[i] = element
        try:
            found = eval(expression, {"np": module, "o": o})
        except (AttributeError, TypeError, ValueError) as error:
            return type(error)
        return type(found).__name__, repr(found)

    with npx.np_default_dtype():
        for expression in OF_OBJECTS.replace("\n", "|").strip("|").split("|"):
            for _ in range(2):  # the second time what is cached is called
                wanted = found_by(onp, expression.strip())
                assert found_by(np, expression.strip()) == wanted, expression


@pytest.mark.parametrize(
    "name",
    ["median", "nanmedian", "gradient", "percentile"],
    ids=lambda name: f"{name} of time spans",
)
def test_statistics_of_time_spans_are_numpys(name):
    spans = onp.array([3, 1, 8, 4], "m8[D]")
    arguments = (25,) if name == "percentile" else ()
    found, wanted = (
        getattr(np, name)(np.array(spans), *arguments),
        getattr(onp, name)(spans, *arguments),
    )
    assert found.dtype == wanted.dtype and onp.array_equal(onp.asarray(found), wanted)
    spans[1] = "NaT"
    if name == "median":
        assert onp.isnat(np.median(np.array(spans)))


RECORD = [("x", "f8"), ("y", "i4")]


def records_written_one_by_one(xp):
    a = xp.array(onp.ones(4, RECORD))
    before, first, last = a.copy(), a[0], a[-1]
    first["x"], last["y"] = 5, 9
    between = [a.copy(), xp.array(a), a.astype(RECORD)]
    for record in a:
        record["x"] *= 2
    a[1:][0]["y"] = 7
    a["x"][2] = -1
    return [a, before, *between, onp.array([first, last])]


def test_records_look_into_the_array_that_they_were_taken_out_of(backend):
    for ours, theirs in zip(
        records_written_one_by_one(np), records_written_one_by_one(onp), strict=True
    ):
        assert onp.array_equal(onp.asarray(ours), theirs)


def test_records_are_no_place_for_numbers(backend):
    a, out = np.array([1.0, 2.0]), np.zeros((), RECORD)
    for reduce in (np.sum, np.multiply.reduce, np.max, np.mean):
        with pytest.raises(TypeError, match="Cannot cast"):
            reduce(a, out=out)
    assert out.tolist() == (0, 0)


def test_averages_of_objects_are_numpys():
    fractions = [Fraction(1, 2), Fraction(1, 3)]
    assert np.average(np.array(fractions)) == Fraction(5, 12)


def test_strings_of_no_length_are_of_one_character():
    assert (
        np.zeros(2, dtype=onp.dtypes.StrDType).dtype == "<U1"
        and np.full(2, "a", dtype=onp.dtypes.BytesDType).dtype == "S1"
    )


def test_functions_take_what_numpys_take(tmp_path):
    assert np.genfromtxt(io.StringIO("1 2 3\n4 5 6"), usecols=np.array([0, 2])).tolist() == [
        [1, 3],
        [4, 6],
    ]
    np.savez(tmp_path / "a.npz", np.ones(2))
    with np.load(tmp_path / "a.npz") as file:
        assert isinstance(file, np.lib.npyio.NpzFile)
    assert np.astype(onp.int64(10), onp.float64).dtype == "float64"
    assert np.trim_zeros(np.array([0, None, 0], dtype=object)).tolist() == [None]
    assert np.bincount(np.array([1, 1], dtype="uint64")).tolist() == [0, 2]
    out = np.zeros(2, dtype="int32")
    assert np.choose([0, 1], [1.5, 2.5], out=out) is out and out.tolist() == [1, 2]
    out = np.zeros((1,))
    assert np.percentile(np.ones(5), 5, None, out) is out and out.tolist() == [1]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: np.add(1, 2, out=()),
            ValueError,
            "exactly one entry per ufunc output: expected 1, got 0",
        ),
        (
            lambda: np.can_cast(None, "i4"),
            TypeError,
            "expected a dtype or an array to cast from, got None",
        ),
        (lambda: np.delete([0, 1], onp.array([], dtype=float)), IndexError, "must be of integer"),
        (lambda: np.digitize([1], [1 + 1j]), TypeError, "bins may not be complex"),
        (lambda: np.bincount([1], minlength="a"), TypeError, "cannot be interpreted as an integer"),
    ],
)
def test_functions_refuse_what_numpys_refuse(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_a_view_as_a_class_of_numpys_is_over_the_same_memory(backend):
    a = np.array([(1, 2.0)], dtype=[("i", "i4"), ("x", "f8")])
    records = a.view(np.recarray)
    assert type(records) is onp.recarray and records.i.tolist() == [1]
    records.i[0] = 5
    assert a["i"].tolist() == [5]
    assert type(np.array(["ab"]).view(np.char.chararray)) is onp.char.chararray
    assert type(np.array([1, 2]).view("u1", onp.matrix)) is onp.matrix and np.array([1]).view(
        "u1", onp.matrix
    ).shape == (1, 8)
    assert type(a.view(np.ndarray)) is np.ndarray
    with pytest.raises(TypeError, match="must be a class of arrays, got <class 'int'>"):
        a.view(type=int)


@pytest.mark.parametrize("dtype", ["object", "longdouble"])
def test_what_is_asked_for_of_arrays_on_xla_in_a_dtype_of_the_host_is_computed_there_each_time(
    dtype,
):
    with npx.backend("jax"):
        x = np.array([1.0, 2.0])
        for _ in range(3):
            total, shifted = np.sum(x, dtype=dtype), np.add(x, 1, dtype=dtype)
            assert total == 3 and type(total) is type(onp.sum(x.asnumpy(), dtype=dtype))
            assert shifted.dtype == dtype and shifted.tolist() == [2, 3]


@pytest.mark.usefixtures("placed")
def test_strings_of_each_dtype_have_memory_of_their_own():
    first, second = onp.dtypes.StringDType(), onp.dtypes.StringDType()
    a = np.array(["a", "b"], dtype=first)
    assert a.astype(second, copy=False).dtype is second and np.asarray(a, dtype=first) is a
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        np.array(a, copy=False, dtype=second)
    missing = np.array(["a", onp.nan], dtype=onp.dtypes.StringDType(na_object=onp.nan))
    assert np.array_equal(missing, missing.copy(), equal_nan=True)


@pytest.mark.usefixtures("placed")
def test_an_array_of_objects_that_holds_itself_has_a_text():
    for xp in (np, onp):
        a, b = xp.array(None, dtype=object), xp.array(None, dtype=object)
        a[()], b[()] = b, a
        assert (repr(a), str(a)) == (
            "array(array(array(..., dtype=object), dtype=object), dtype=object)",
            "...",
        )
        a[()] = None


@pytest.mark.usefixtures("numpy_mode")
def test_records_keep_what_lies_between_their_fields():
    table = onp.zeros((3, 2), [("x", "f8"), ("y", "i4")])
    assert (
        agrees(
            lambda np, a: np.insert(a[["y"]], 1, 5, axis=-1), table, modes=("jax", "numpy")
        ).dtype
        == table[["y"]].dtype
    )


REDUCING = [
    "sum",
    "prod",
    "mean",
    "std",
    "var",
    "max",
    "min",
    "ptp",
    "cumsum",
    "cumprod",
    "nansum",
    "nanmean",
    "nanstd",
    "nanmax",
    "nancumsum",
    "median",
    "nanmedian",
    "average",
    "round",
    "cumulative_sum",
    "gradient",
    "trapezoid",
]


@pytest.mark.parametrize("name", REDUCING)
@pytest.mark.parametrize("dtype", [">f4", ">f8", ">i2", ">i4", ">u8"])
def test_reductions_of_swapped_bytes_are_numpys(name, dtype, numpy_mode):
    a = onp.arange(6, dtype=dtype).reshape(2, 3)
    for options in ({}, {"axis": 0}, {"axis": 1, "keepdims": True}):
        try:  # some take no axis, or need one
            expected = onp.asarray(getattr(onp, name)(a, **options))
        except (TypeError, ValueError):
            continue
        found = onp.asarray(getattr(np, name)(np.array(a), **options))
        assert found.dtype == expected.dtype, options
        onp.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize(
    "name",
    [
        "sum",
        "prod",
        "mean",
        "std",
        "var",
        "cumsum",
        "cumprod",
        "nansum",
        "nancumsum",
        "nanmean",
        "cumulative_sum",
        "add.reduce",
        "add.accumulate",
        "maximum.reduce",
    ],
)
@pytest.mark.parametrize("dtype", ["f4", "i4", "f8", "bool"])
def test_a_dtype_for_dates_and_durations_is_numpys_or_its_error(name, dtype):
    for values in (onp.array([3, -1, 2], "m8[h]"), onp.array(["2024-01-01", "NaT"], "M8[D]")):
        outcomes = []
        for xp, a in ((onp, values), (np, np.array(values))):
            function = operator.attrgetter(name)(xp)
            try:
                found = function(a, dtype=dtype)
                outcomes.append((onp.asarray(found).dtype, onp.asarray(found).tolist()))
            except TypeError as error:
                outcomes.append(type(error))
        assert outcomes[0] == outcomes[1], values.dtype


def test_durations_are_not_written_into_numbers():
    durations, out = np.array([3, -1, 2], dtype="m8[h]"), np.zeros(())
    for function in (np.sum, np.mean, np.max):
        with pytest.raises(TypeError, match=r"timedelta64|cast"):
            function(durations, out=out)
    assert out == 0


def test_medians_of_bfloat16_stay_where_they_are(placed):
    a = np.array([3.0, 1.0, 2.0], dtype="bfloat16")
    a.attach_grad()
    with autograd.record():
        found = np.median(a)
    found.backward()
    assert (found.dtype, float(found)) == (np.bfloat16, 2) and a.grad.tolist() == [0, 0, 1]
    assert npx.jit(np.median)(a).tolist() == 2


def test_medians_of_texts_are_refused_and_of_objects_exact():
    with pytest.raises(TypeError):
        np.median(np.array(["b", "a", "cc"]))
    third = Fraction(1, 3)
    assert np.median(np.array([third, 2 * third, 0], dtype=object)) == onp.median(
        [third, 2 * third, 0]
    )


def test_views_as_matrices_share_the_memory():
    table = np.zeros((2, 2))
    table.view(onp.matrix)[0, 1] = 3
    assert table.tolist() == [[0, 3], [0, 0]]


def test_views_of_numpys_classes_are_read_only_where_a_write_would_be_lost():
    x = np.zeros((2, 2))
    x.attach_grad()
    with npx.backend("jax"):
        placed = np.zeros((2, 2))
    with autograd.record():
        recorded = x * 2
    for a in (placed, recorded):
        with pytest.raises(ValueError, match="read-only"):
            a.view(onp.matrix)[0, 1] = 3


def test_the_trace_of_durations_has_numpys_dtype():
    durations = np.array([[1, 2], [3, 4]], dtype="m8[h]")
    for dtype in ("f8", "i8"):
        assert np.trace(durations, dtype=dtype) == onp.timedelta64(5, "h")
