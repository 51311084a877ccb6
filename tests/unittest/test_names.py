"""That no name of NumPy's is missing, and whose signatures differ: a list that may only shrink.

A signature agrees if it has NumPy's parameters, by name, order, kind and default; keyword-only ones
may be added.
"""

import importlib
import inspect
import warnings

import numpy as onp
import pytest
from names_expected import SIGNATURES

from npcompat import np, npx


def public(space):
    """The names of a module or class that are not private, and those that the class of arrays has
    for Python.
    """
    if hasattr(space, "__all__"):
        return space.__all__
    for_python = space is onp.ndarray
    return [
        name
        for name in dir(space)
        if not name.startswith("_") or (for_python and name.startswith("__"))
    ]


def at(root, path):
    """Return the object of a dotted name."""
    for part in filter(None, path.split(".")):
        root = getattr(root, part)
    return root


MODULES = (
    "", "linalg", "random", "fft", "lib", "lib.stride_tricks", "testing", "exceptions", "dtypes", "typing", "emath", "rec", "char", "strings",
    "ctypeslib", "ma", "polynomial", "polynomial.polynomial", "polynomial.chebyshev", "polynomial.legendre", "polynomial.laguerre",
    "polynomial.hermite", "polynomial.hermite_e", "polynomial.polyutils",
)  # fmt: skip
CLASSES = (
    "ndarray", "ufunc", "flatiter", "broadcast", "vectorize", "random.Generator", "random.RandomState", "random.SeedSequence",
    "random.BitGenerator", "random.PCG64", "random.PCG64DXSM", "random.MT19937", "random.Philox", "random.SFC64", "polynomial.Polynomial",
    "polynomial.Chebyshev", "polynomial.Legendre", "polynomial.Laguerre", "polynomial.Hermite", "polynomial.HermiteE",
)  # fmt: skip
for _name in ("typing", "testing", "rec", "char", "strings", "ctypeslib"):
    importlib.import_module(f"numpy.{_name}")
with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
    SPACES = {
        f"numpy.{name}".strip("."): (at(onp, name), at(np, name), public(at(onp, name)))
        for name in (*MODULES, *CLASSES)
    }
pytestmark = pytest.mark.filterwarnings("ignore:The chararray class is deprecated")


def lacking(space):
    """The names of a namespace that npcompat has not."""
    _, ours, names = SPACES[space]
    return {f"{space}.{name}" for name in names if not hasattr(ours, name)}


def signature(function):
    """The parameters of a function, but for `self`, if they can be known: `*args, **kwargs` say
    nothing.
    """
    try:
        found = [p for p in inspect.signature(function).parameters.values() if p.name != "self"]
    except (TypeError, ValueError):
        return None
    return None if [p.name for p in found] == ["args", "kwargs"] else found


def agree(ours, theirs):
    """Return True if a signature is NumPy's, except keyword-only parameters that it adds.

    Where NumPy's ends in `**kwargs`, ours may name them.
    """
    names = {p.name for p in theirs}
    kept = [p for p in ours if p.kind is not inspect.Parameter.KEYWORD_ONLY or p.name in names]
    if (
        theirs
        and theirs[-1].kind is inspect.Parameter.VAR_KEYWORD
        and (not kept or kept[-1].kind is not inspect.Parameter.VAR_KEYWORD)
    ):
        theirs = theirs[:-1]
        if any(p.default is inspect.Parameter.empty for p in kept[len(theirs) :]):
            return False
        kept = kept[: len(theirs)]
    if len(kept) != len(theirs):
        return False
    return all(same_parameter(mine, its) for mine, its in zip(kept, theirs, strict=True))


def same_parameter(mine, its):
    """Compare name, kind and default of two parameters; variadic ones may have any name."""
    if mine.kind is not its.kind:
        return False
    if mine.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
        return True
    return mine.name == its.name and (
        mine.default is its.default or repr(mine.default) == repr(its.default)
    )


def differing(space):
    """The names of functions and classes of a namespace whose signature is not NumPy's."""
    theirs, ours, names = SPACES[space]
    found = set()
    for name in names:
        if name.startswith("__") or not hasattr(ours, name):
            continue
        mine, its = getattr(ours, name), getattr(theirs, name)
        if mine is its or not callable(its) or not callable(mine):
            continue
        wanted, given = signature(its), signature(mine)
        if wanted is not None and (given is None or not agree(given, wanted)):
            found.add(f"{space}.{name}")
    return found


@pytest.mark.parametrize("space", SPACES)
def test_no_name_is_missing(space):
    assert lacking(space) == set(), "names that were there, or that NumPy has added"


@pytest.mark.parametrize("space", SPACES)
def test_differing_signatures_are_listed_with_a_reason(space):
    listed = {
        name
        for names in SIGNATURES.values()
        for name in names.split()
        if name.rpartition(".")[0] == space
    }
    assert differing(space) - listed == set(), "signatures that differ from NumPy's"
    assert listed - differing(space) == set(), "agree now: strike them from names_expected.py"


def test_every_reason_is_given_and_every_name_listed_once():
    assert all(SIGNATURES) and all(len(reason) > 10 for reason in SIGNATURES)
    names = [name for names in SIGNATURES.values() for name in names.split()]
    assert len(names) == len(set(names))
    assert {name.rpartition(".")[0] for name in names} <= set(SPACES)


def test_the_comparison_sees_differences():
    def like(a, /, b, *, c=1): ...
    def added(a, /, b, *, c=1, more=None): ...
    def other_kind(a, b, *, c=1): ...
    def other_default(a, /, b, *, c=2): ...
    def positional(a, /, b, more=None, *, c=1): ...
    def unsaid(a, /, b, **kwargs): ...

    assert agree(signature(like), signature(like)) and agree(signature(added), signature(like))
    for other in (other_kind, other_default, positional):
        assert not agree(signature(other), signature(like)), other.__name__
    assert not agree(signature(like), signature(added))
    assert agree(signature(positional), signature(unsaid)) and not agree(
        signature(other_kind), signature(unsaid)
    )


def test_numpys_methods_take_by_name_and_position_more_than_their_signatures_show():
    for module in (onp, np):
        a = module.arange(3)
        assert a.take(indices=[1]).tolist() == [1] and a.repeat(repeats=2).tolist() == [
            0,
            0,
            1,
            1,
            2,
            2,
        ]
        assert a.searchsorted(v=1) == 1 and a.dot(b=a) == 5
        a.setflags(False)
        assert not a.flags.writeable


def test_removed_names_give_numpys_advice():
    with pytest.raises(AttributeError, match="deprecated alias for the builtin"):
        np.float


def test_the_inspection_namespace_knows_its_devices():
    with pytest.raises(ValueError, match="Device not understood"):
        np.__array_namespace_info__().dtypes(device="abacus")


@pytest.mark.usefixtures("placed")
def test_the_first_device_of_a_kind_is_equal_to_its_name():
    assert (
        np.ones(1).device == "cpu" == npx.cpu()
        and np.__array_namespace_info__().devices()[0] == "cpu"
    )
    assert npx.cpu(1) != "cpu" and npx.cpu(1) == "cpu(1)" and {npx.cpu(): 1}["cpu"] == 1
