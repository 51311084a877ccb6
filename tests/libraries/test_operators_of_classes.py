"""Operators beside values of other libraries, whose classes have a say: NumPy's results.

Each line is evaluated twice, with `np` as NumPy and as npcompat; texts and classes are compared.
"""

from typing import Any

import numpy as onp
import pytest

from npcompat import autograd, np, npx

pytestmark = pytest.mark.filterwarnings("ignore")

OPERATORS = {
    "pandas": """
d == pd.Timestamp("2024-01-02")
d != pd.Timestamp("2024-01-02")
pd.Timestamp("2024-01-02") == d
d == pd.NaT
d > pd.Timestamp("2024-01-01")
a[:2][d == pd.Timestamp("2024-01-02")].sum()
np.where(d != pd.Timestamp("2024-01-02"), 1, 0)
pd.Timestamp("2024-01-02") in d
td / pd.Timedelta("1h")
td // pd.Timedelta("5h")
td % pd.Timedelta("5h")
divmod(td, pd.Timedelta("5h"))
td < pd.Timedelta("2D")
i * pd.Timedelta("1D")
pd.Timestamp("2024") + i * pd.Timedelta("1D")
pd.Period("2024", "M") + i
pd.offsets.Day(2) * i
np.array([pd.Timestamp("2024")]) + pd.Timedelta("1D")
np.array([pd.Timestamp("2024")]) == pd.Timestamp("2024")
a == pd.Interval(0, 1)
i[1] == pd.Timestamp("2020")
i[1] != pd.NaT
i[1] == pd.Interval(0, 2)
i.sum() == pd.Timedelta("1D")
i[1] * pd.Timedelta("1D")
pd.Interval(0, 1) in a
""",
    "torch": """
t == a
a == t
~(a == t)
t[~(a == torch.tensor(1.0))]
(a > 1) == (t > 1)
a[0] * t
t * a[0]
""",
    "jax": """
jnp.ones(3) * a
a + jnp.ones(3)
a == jnp.ones(3)
a[1] * jnp.ones(3)
jnp.float32(2) * a.sum()
(a + jnp.ones(3)).at[0].set(5)
""",
    "builtins": """
declining + a
i == declining
deciding + a
a + deciding
a == deciding
""",
}
LINES = [(name, line) for name, text in OPERATORS.items() for line in text.strip().splitlines()]


class Declining:
    """Class with a priority that adds numbers only."""

    __array_priority__ = 10
    __hash__ = None

    def __add__(self, other: Any) -> Any:
        return f"and {other}" if isinstance(other, int | float) else NotImplemented


class Deciding:
    """Class with a priority that takes whole arrays."""

    __array_priority__ = 10
    __hash__ = None

    def __add__(self, other: Any) -> Any:
        return f"whole {other}"

    __radd__ = __add__

    def __eq__(self, other: Any) -> Any:
        return f"equal {other}"


def names(library: str, module: Any) -> dict[str, Any]:
    found = {
        "np": module,
        "a": module.array([1.0, 2.0, 3.0]),
        "i": module.array([1, 2, 3]),
        "d": module.array(["2024-01-01", "2024-01-02"], dtype="M8[D]"),
        "td": module.array([1, 2], dtype="m8[D]"),
        "declining": Declining(),
        "deciding": Deciding(),
    }
    if library == "pandas":
        found["pd"] = pytest.importorskip(library)
    elif library == "torch":
        found["torch"] = torch = pytest.importorskip(library)
        found["t"] = torch.tensor([1.0, 0.0, 3.0])
    elif library == "jax":
        found["jnp"] = pytest.importorskip("jax.numpy")
    return found


IN_PLACE = {
    "pandas": """
d += pd.Timedelta("1D")
d[1:] += pd.Timedelta("1D")
d[d > pd.Timestamp("2024-01-01")] -= pd.Timedelta("1h")
td /= pd.Timedelta("1D")
i *= pd.offsets.Day()
""",
    "jax": """
a += jnp.ones(3)
a *= jnp.ones(3)
""",
    "builtins": """
a += deciding
""",
}


@pytest.mark.parametrize(
    ("library", "line"), [(n, x) for n, text in IN_PLACE.items() for x in text.strip().splitlines()]
)
def test_an_operator_in_place_beside_another_class(library, line):
    with npx.np_default_dtype():
        wanted, found = names(library, onp), names(library, np)
        exec(line, wanted)
        exec(line, found)
    for name in ("a", "i", "d", "td"):
        assert str(found[name]) == str(wanted[name])
        assert type(found[name]).__name__ == type(wanted[name]).__name__


@pytest.mark.parametrize(("library", "line"), LINES)
def test_an_operator_beside_another_class(library, line):
    with npx.np_default_dtype():
        wanted = eval(line, names(library, onp))
        found = eval(line, names(library, np))
    assert str(found) == str(wanted)
    assert type(found).__name__ == type(wanted).__name__
    assert str(getattr(found, "dtype", None)) == str(getattr(wanted, "dtype", None))


def test_comparisons_with_tensors_are_bools():
    torch = pytest.importorskip("torch")
    t, a = torch.tensor([1.0, 0.0, 3.0]), np.array([1.0, 2.0, 3.0])
    for found in (a < t, t < a, a >= t, a != t, (a > 0) & (t > 0), (t > 0) ^ (a > 0)):
        assert found.dtype == torch.bool


def test_what_is_recorded_is_not_handed_to_a_class_that_knows_numpys_arrays_only():
    pd, jnp = pytest.importorskip("pandas"), pytest.importorskip("jax.numpy")
    a = np.array([1.0, 2.0])
    a.attach_grad()
    with autograd.record():
        b = a * 2
        with pytest.raises(TypeError, match=r"recorded.*Timedelta"):
            b * pd.Timedelta("1D")
        c = (b * jnp.ones(2)).sum()  # stays ours
    c.backward()
    assert a.grad.tolist() == [2, 2]


def test_scalars_on_xla_are_numbers_beside_tensors():
    torch = pytest.importorskip("torch")
    with npx.backend("jax"):
        number = np.array([2.0], dtype="float64")[0]
    assert (torch.ones(3) * number).dtype == (number * torch.ones(3)).dtype == torch.float32


def test_texts_of_any_length_leave_as_read_only_arrays():
    a = np.array(["a", "bc"], dtype=np.dtypes.StringDType())
    found = onp.asarray(a)
    assert found.tolist() == ["a", "bc"] and found.dtype == a.dtype
    with pytest.raises(ValueError, match="read-only"):
        found[0] = "x"
    pd = pytest.importorskip("pandas")
    assert pd.Series(a).tolist() == ["a", "bc"]
