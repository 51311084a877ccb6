"""Convolutions that are products of matrices on the CPU: the same numbers, for what the rule says,
and nothing else.
"""

import itertools
import math
import random
from collections import Counter
from functools import partial

import jax
import numpy as onp
import pytest
from internals import FEW, FITS, MUCH, TAPS, cpu_rewrites, product, rewritten
from jax import lax
from jaxprs import names

from npcompat import autograd, np, npx

LAYOUTS = {1: ["NCW", "NWC"], 2: ["NCHW", "NHWC", "CNHW", "HWNC"], 3: ["NCDHW", "NDHWC"]}


def equation(x, weight, **options):
    return jax.make_jaxpr(lambda x, w: lax.conv_general_dilated(x, w, **options))(
        x, weight
    ).jaxpr.eqns[-1]


def a_case(seed):
    """A small convolution with whatever a convolution may have."""
    r = random.Random(seed)
    axes = r.choice([1, 2, 2, 3])
    layout = r.choice(LAYOUTS[axes])
    spatial = layout.replace("N", "").replace("C", "")
    filters = r.choice([layout.replace("N", "O").replace("C", "I"), f"OI{spatial}"])
    sizes = {
        "N": r.randint(1, 3),
        "C": r.randint(1, 3),
        "O": r.randint(1, 3),
        **{axis: r.randint(1, 7) for axis in spatial},
    }
    longest = [r.randint(1, 3), 1][seed % 3 == 0]
    kernel = {"O": sizes["O"], "I": sizes["C"], **{axis: r.randint(1, longest) for axis in spatial}}
    numbers = onp.random.RandomState(seed)
    x = numbers.normal(size=[sizes[a] for a in layout]).astype("float32")
    weight = numbers.normal(size=[kernel[a] for a in filters]).astype("float32")
    plain, dense = r.random() < 0.5, r.random() < 0.5
    options = {
        "window_strides": [1 if plain else r.randint(1, 2) for _ in spatial],
        "padding": [(r.randint(-1, 3), r.randint(-1, 3)) for _ in spatial],
        "lhs_dilation": [1 if dense else r.randint(1, 3) for _ in spatial],
        "rhs_dilation": [r.randint(1, 2) for _ in spatial],
        "dimension_numbers": (layout, filters, r.choice([layout, f"NC{spatial}"])),
    }
    if seed % 5 == 1:  # filters as large as the data
        options |= {"padding": [(0, 0) for _ in spatial], "lhs_dilation": [1 for _ in spatial]}
        apart = dict(zip(spatial, options["rhs_dilation"], strict=True))
        sizes |= {axis: (kernel[axis] - 1) * apart[axis] + 1 for axis in spatial}
        x = numbers.normal(size=[sizes[a] for a in layout]).astype("float32")
    return x, weight, options


def padded(x, options):
    """The data with its padding and dilation done: XLA's convolutions by negative padding are wrong
    for short axes.
    """
    around = {
        axis: (*p, d - 1)
        for axis, p, d in zip(
            _spatial(options), options["padding"], options["lhs_dilation"], strict=True
        )
    }
    x = lax.pad(
        x, onp.float32(0), [around.get(axis, (0, 0, 0)) for axis in options["dimension_numbers"][0]]
    )
    ones = [1] * len(around)
    return x, {**options, "padding": [(0, 0) for _ in ones], "lhs_dilation": ones}


def _spatial(options):
    return [a for a in options["dimension_numbers"][0] if a not in "NC"]


def ways(options, kernel, lengths):
    """The products that can be made of a convolution."""
    dense, whole = ({*options[name]} == {1} for name in ("lhs_dilation", "window_strides"))
    single = (dense or whole) if {*kernel} == {1} else dense and {*lengths} == {1}
    return [
        way
        for way, possible in (("gathered", dense), ("scattered", whole), ("single", single))
        if possible
    ]


@pytest.mark.slow
def test_products_are_the_convolution():
    tried = Counter()
    for seed in range(70):
        x, weight, options = a_case(seed)
        params = equation(x, weight, **options).params
        plain, done = padded(x, options)
        expected = lax.conv_general_dilated(plain, weight, **done)
        if expected.size == 0:
            continue
        _, filters, result = options["dimension_numbers"]
        kernel, lengths = ([n for axis, n in zip(names, shape, strict=True) if axis not in "NCOI"] for names, shape in
                           ((filters, weight.shape), (result, expected.shape)))  # fmt: skip
        for way in ways(options, kernel, lengths):
            tried[way] += 1
            if way == "single":
                tried["of filters as large as the data"] += {*kernel} != {1}
                tried["of data that are spread"] += {*options["lhs_dilation"]} != {1}
            found = jax.jit(partial(product, way, params))(x, weight)
            assert found.shape == expected.shape
            onp.testing.assert_allclose(found, expected, atol=1e-4, err_msg=f"{way}, seed {seed}")
    assert len(tried) == 5 and min(tried.values()) > 3, tried


on_cpu = pytest.mark.skipif(
    jax.default_backend() != "cpu", reason="programs of another device are left as they are"
)
CONVOLUTION, SIDE_BY_SIDE, ADDED_UP, AS_THEY_LIE = (
    "a convolution",
    "a product of parts of the data, side by side",
    "products by each element of the filters, added up",
    "a product of data and filters as they lie",
)


def becomes(channels=4, filters=64, size=16, kernel=3, batch=8, dtype="float32", **options):
    """Return the form of a rewritten convolution of these sizes, recognized by its primitives."""
    x = jax.ShapeDtypeStruct((batch, channels, size, size), dtype)
    groups = options.get("feature_group_count", 1)
    weight = jax.ShapeDtypeStruct((filters, channels // groups, kernel, kernel), dtype)
    options = {"window_strides": (1, 1), "padding": [(kernel // 2, kernel // 2)] * 2, **options}
    with jax.enable_x64(True):
        made = jax.make_jaxpr(lambda x, w: lax.conv_general_dilated(x, w, **options))(x, weight)
        ran = {*names(rewritten(made.jaxpr))}
    assert ("dot_general" in ran) != ("conv_general_dilated" in ran)
    if "conv_general_dilated" in ran:
        return CONVOLUTION
    return SIDE_BY_SIDE if "stack" in ran else ADDED_UP if "add" in ran else AS_THEY_LIE


@on_cpu
def test_few_channels_make_a_product():
    assert becomes(FEW, 64) == becomes(FEW, FEW) == SIDE_BY_SIDE
    assert becomes(1, 1, dtype="float64") == SIDE_BY_SIDE
    assert becomes(64, FEW) == ADDED_UP
    assert becomes(FEW + 1, FEW + 1) == CONVOLUTION


@on_cpu
def test_a_product_is_made_where_little_of_it_is_thrown_away():
    assert becomes(4, 64, window_strides=(2, 2)) == SIDE_BY_SIDE
    assert becomes(64, 4, window_strides=(2, 2)) == CONVOLUTION, (
        "most of the products would be thrown away"
    )
    assert becomes(64, 4, lhs_dilation=(2, 2)) == ADDED_UP
    assert becomes(4, 64, lhs_dilation=(2, 2)) == CONVOLUTION, (
        "most of what lies side by side would be zeros"
    )


@on_cpu
def test_filters_and_results_of_one_element_make_a_product_of_any_channels():
    size, batch = 16, 8
    channels = MUCH // (2 * batch * size**2 * 64)
    assert becomes(channels, 64, size, kernel=1, batch=batch) == AS_THEY_LIE
    assert becomes(channels - 1, 64, size, kernel=1, batch=batch) == CONVOLUTION, (
        "too little to compute"
    )
    apart, spread = {"window_strides": (2, 2)}, {"lhs_dilation": (2, 2)}
    assert becomes(256, 128, kernel=1, **apart) == AS_THEY_LIE
    assert becomes(256, 128, kernel=1, **spread) == AS_THEY_LIE
    assert becomes(256, 128, kernel=1, **apart, **spread) == CONVOLUTION
    assert becomes(256, 128, size=8, kernel=8, padding=[(0, 0)] * 2) == AS_THEY_LIE, (
        "as where filters of one element are differentiated"
    )
    assert becomes(4, 64, 512, kernel=1, batch=64) == AS_THEY_LIE, "nothing has to lie side by side"


@on_cpu
def test_what_is_large_is_left():
    largest = FITS // (9 * 4 * 16 * 16 * 4)
    assert becomes(4, batch=largest) == SIDE_BY_SIDE
    assert becomes(4, batch=largest + 1) == CONVOLUTION
    longest = math.isqrt(TAPS)
    assert becomes(4, kernel=longest) == SIDE_BY_SIDE
    assert becomes(4, kernel=longest + 1) == CONVOLUTION


@on_cpu
def test_what_has_another_form_is_left():
    assert becomes(4, size=5, kernel=5, padding=[(0, 0)] * 2) == CONVOLUTION, (
        "as where filters are differentiated"
    )
    assert becomes(4, 64, feature_group_count=2) == CONVOLUTION
    assert becomes(4, dtype="float16") == CONVOLUTION
    assert becomes(4, batch=0) == CONVOLUTION
    assert becomes(4, preferred_element_type="float64") == CONVOLUTION


@pytest.mark.parametrize("value", [onp.inf, onp.nan])
@pytest.mark.parametrize("place", [(0, 0, 0, 0), (1, 0, 11, 11), (0, 0, 3, 6), (1, 0, 6, 11)])
def test_what_is_not_finite_stays_within_the_reach_of_the_filter(place, value):
    r = onp.random.RandomState(0)
    x, weight, given = (
        r.normal(size=s).astype("float32") for s in ((2, 1, 12, 12), (3, 1, 5, 5), (2, 3, 12, 12))
    )
    for where in (x, given):
        kept, where[place] = where[place], value
        ours = [np.array(a) for a in (x, weight)]
        for a in ours:
            a.attach_grad()
        with autograd.record():
            y = npx.convolution(*ours, pad=2)
        y.backward(np.array(given))
        with onp.errstate(invalid="ignore"):
            expected = of_five_by_five(x, weight, given)
        for found, plain in zip([y, *[a.grad for a in ours]], expected, strict=True):
            onp.testing.assert_allclose(found.asnumpy(), plain, rtol=1e-4, atol=1e-4)
        where[place] = kept


def of_five_by_five(x, weight, given):
    """A convolution of padded data of one channel, and its derivatives, from their definitions."""

    def windows(a, size):
        return onp.lib.stride_tricks.sliding_window_view(
            onp.pad(a, [(0, 0), (0, 0), (2, 2), (2, 2)]), size, axis=(2, 3)
        )

    y = (windows(x, (5, 5)) * weight[None, :, 0, None, None]).sum((4, 5))
    by_data = (windows(given, (5, 5)) * weight[None, :, 0, None, None, ::-1, ::-1]).sum((1, 4, 5))[
        :, None
    ]
    by_filters = (windows(x, (12, 12)) * given[:, :, None, None]).sum((0, 4, 5))[:, None]
    return y, by_data, by_filters


@on_cpu
def test_programs_have_products_eager_recorded_and_compiled(monkeypatch):
    made = []

    def noted(jaxpr):
        found = rewritten(jaxpr)
        if products := {*names(found)} & {"conv_general_dilated", "dot_general"}:
            made.append(products)
        return found

    monkeypatch.setattr(cpu_rewrites, "rewritten", noted)
    # Attributes that no other test has, so that no program of them has been made yet.
    convolved = partial(npx.convolution, pad=(9, 3), dilate=(3, 1))
    x, weight = (
        np.array(onp.ones((2, 3, 11, 13), "float32")),
        np.array(onp.ones((7, 3, 2, 4), "float32")),
    )
    weight.attach_grad()
    convolved(x, weight)
    assert made == [{"dot_general"}]
    made.clear()
    with autograd.record():
        y = convolved(x, weight)
    y.backward()
    assert made[0] == {"dot_general"} and len(made) == 2
    made.clear()
    npx.jit(lambda x: convolved(x, weight) + 1)(x)
    assert made == [{"dot_general"}]


@pytest.mark.parametrize(("channels", "filters"), [(1, 9), (9, 1), (3, 12), (12, 3), (12, 12)])
@pytest.mark.parametrize(("kernel", "stride", "pad"), [(1, 2, 1), (3, 1, 1), (3, 2, 0)])
def test_gradients_are_those_of_the_convolution(channels, filters, kernel, stride, pad):
    r = onp.random.RandomState(0)
    x, weight = (
        r.normal(size=(2, channels, 8, 7)),
        r.normal(size=(filters, channels, kernel, kernel)),
    )

    def plain(x, weight):
        return lax.conv_general_dilated(x, weight, (stride, stride), [(pad, pad)] * 2)

    with jax.enable_x64(True):
        expected, pull = jax.vjp(plain, x, weight)
        given = r.normal(size=expected.shape)
        grads = pull(given)
    for compiled, placed in itertools.product((False, True), ("jax", "auto")):
        with npx.backend(placed):
            ours = [np.array(a) for a in (x, weight)]
            for a in ours:
                a.attach_grad()

            def convolved(x, weight):
                return npx.convolution(x, weight, stride=stride, pad=pad)

            with autograd.record():
                y = (npx.jit(convolved) if compiled else convolved)(*ours)
            y.backward(np.array(given))
            onp.testing.assert_allclose(y.asnumpy(), expected, rtol=1e-10, atol=1e-10)
            for a, grad in zip(ours, grads, strict=True):
                onp.testing.assert_allclose(a.grad.asnumpy(), grad, rtol=1e-10, atol=1e-10)
