"""Transformations against NumPy and numerical derivatives, transformed distributions against SciPy,
and constraints.
"""

import numpy as onp
import pytest
from scipy import stats

from npcompat import autograd, gluon, init, np, npx

mgp = gluon.probability
constraint = mgp.constraint


pytestmark = pytest.mark.usefixtures("on_the_host")


X = onp.array([0.3, 1.0, 2.5])
TRANSFORMATIONS = {
    "exp": (mgp.ExpTransform(), onp.exp),
    "affine": (mgp.AffineTransform(1.0, -2.0), lambda x: 1 - 2 * x),
    "power": (mgp.PowerTransform(-1.5), lambda x: x**-1.5),
    "sigmoid": (mgp.SigmoidTransform(), lambda x: 1 / (1 + onp.exp(-x))),
    "compose": (
        mgp.ComposeTransform([mgp.AffineTransform(1.0, 0.5), mgp.ExpTransform()]),
        lambda x: onp.exp(1 + 0.5 * x),
    ),
    "nothing": (mgp.ComposeTransform([]), lambda x: x),
    "inverse": (
        mgp.ComposeTransform([mgp.PowerTransform(2.0), mgp.ExpTransform().inv]),
        lambda x: onp.log(x**2),
    ),
}


@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_values_inverses_and_jacobians(name):
    transformation, exact = TRANSFORMATIONS[name]
    with npx.backend("numpy"):
        x = np.array(X)
        y = transformation(x)
        onp.testing.assert_allclose(y.asnumpy(), exact(X), rtol=1e-9)
        onp.testing.assert_allclose(transformation.inv(y).asnumpy(), X, rtol=1e-9)
        slope = (exact(X + 1e-6) - exact(X - 1e-6)) / 2e-6
        onp.testing.assert_allclose(
            transformation.log_det_jacobian(x, y).asnumpy(),
            onp.log(abs(slope)),
            rtol=1e-5,
            atol=1e-8,
        )
        onp.testing.assert_allclose(
            transformation.inv.log_det_jacobian(y, x).asnumpy(),
            -onp.log(abs(slope)),
            rtol=1e-5,
            atol=1e-8,
        )
    assert float(transformation.sign) == onp.sign(slope[0]) == float(transformation.inv.sign)
    assert (
        transformation.bijective and transformation.inv.bijective and transformation.event_dim == 0
    )
    if not isinstance(transformation, mgp.ComposeTransform):
        assert transformation.inv.inv is transformation


def test_what_is_not_bijective_says_so():
    softmax, absolute = mgp.SoftmaxTransform(), mgp.AbsTransform()
    assert not softmax.bijective and not absolute.bijective and softmax.event_dim == 1
    onp.testing.assert_allclose(
        softmax(softmax.inv(np.array([0.2, 0.8]))).asnumpy(), [0.2, 0.8], rtol=1e-6
    )
    assert absolute(np.array([-1.0])).tolist() == [1] and absolute.inv(
        np.array([2.0])
    ).tolist() == [2]
    with pytest.raises(
        NotImplementedError, match="SoftmaxTransform does not define log_det_jacobian"
    ):
        softmax.log_det_jacobian(np.ones(2), np.ones(2))
    with pytest.raises(NotImplementedError, match="AbsTransform does not define sign"):
        absolute.sign
    with pytest.raises(
        TypeError, match=r"ComposeTransform: parts\[1\]: expected a Transformation, got function"
    ):
        mgp.ComposeTransform([absolute, lambda x: x])


def test_the_sigmoid_stays_inside():
    y = mgp.SigmoidTransform()(np.array([-1000.0, 1000.0]))
    assert ((y > 0) & (y < 1)).all() and onp.isfinite(
        mgp.SigmoidTransform().inv(np.array([0.0, 1.0])).asnumpy()
    ).all()


def test_transformed_distributions_are_scipys():
    lognormal = mgp.TransformedDistribution(
        mgp.Normal(np.array([0.0, 1.0]), 0.5), mgp.ExpTransform()
    )
    exact = stats.lognorm(0.5, scale=onp.exp([0, 1]))
    x = np.array([0.5, 3.0])
    onp.testing.assert_allclose(lognormal.log_prob(x).asnumpy(), exact.logpdf([0.5, 3]), rtol=1e-5)
    onp.testing.assert_allclose(lognormal.cdf(x).asnumpy(), exact.cdf([0.5, 3]), rtol=1e-5)
    onp.testing.assert_allclose(lognormal.icdf(np.array(0.3)).asnumpy(), exact.ppf(0.3), rtol=1e-5)
    assert (
        lognormal.has_grad
        and lognormal.sample().shape == (2,)
        and lognormal.sample_n(3).shape == (3, 2)
    )
    assert lognormal.broadcast_to((4, 2)).sample().shape == (4, 2)
    assert (
        repr(lognormal)
        == "TransformedDistribution(Normal(loc: shape (2,), scale: shape (), event_dim: 0), [ExpTransform])"
    )
    falling = mgp.TransformedDistribution(mgp.Exponential(2.0), [mgp.AffineTransform(1.0, -1.0)])
    onp.testing.assert_allclose(float(falling.cdf(0.0)), stats.expon(scale=2).sf(1), rtol=1e-5)
    onp.testing.assert_allclose(
        float(falling.icdf(0.2)), 1 - stats.expon(scale=2).ppf(0.8), rtol=1e-5
    )
    with pytest.raises(
        TypeError, match="TransformedDistribution: base_dist: expected a Distribution, got float"
    ):
        mgp.TransformedDistribution(1.0, mgp.ExpTransform())


def test_parameters_of_a_transformation_widen_the_batch():
    shifted = mgp.TransformedDistribution(
        mgp.Normal(0.0, 1.0), mgp.AffineTransform(np.array([0.0, 100.0]), 1.0)
    )
    sample = shifted.sample_n(3)
    assert (
        sample.shape == (3, 2) and (abs((sample[:, 1] - sample[:, 0]) - 100) > 1e-3).all()
    )  # not one variate for both


def test_a_transformation_of_vectors_is_a_distribution_of_vectors():
    flow = mgp.TransformedDistribution(
        mgp.Normal(np.zeros((4, 3)), 1.0),
        [mgp.AffineTransform(1.0, np.array([1.0, 2.0, 3.0]), event_dim=1)],
    )
    assert (
        flow.event_dim == 1
        and flow.sample().shape == (4, 3)
        and flow.sample((2, 4)).shape == (2, 4, 3)
    )
    exact = stats.norm(1, [1, 2, 3]).logpdf(onp.array([0.0, 1.0, 2.0])).sum()
    onp.testing.assert_allclose(
        flow.log_prob(np.array([0.0, 1.0, 2.0])).asnumpy(), onp.full(4, exact), rtol=1e-6
    )


class Scale(mgp.TransformBlock):
    """A scale that is learned."""

    bijective, sign = True, 1

    def __init__(self):
        super().__init__()
        self.log_scale = gluon.Parameter("log_scale", shape=(2,))

    def _forward_compute(self, x):
        return x * np.exp(self.log_scale.data())

    def _inverse_compute(self, y):
        return y * np.exp(-self.log_scale.data())

    def log_det_jacobian(self, x, y):
        return np.broadcast_to(self.log_scale.data(), np.shape(x))


def test_a_flow_is_trained_to_the_scale_of_its_data():
    x = np.array(onp.random.default_rng(0).normal(size=(500, 2)) * [3.0, 0.5], dtype="float32")
    scale = Scale()
    scale.initialize(init.Zero())
    trainer = gluon.Trainer(scale.collect_params(), "sgd", {"learning_rate": 0.2})

    @npx.jit
    def step(x):
        with autograd.record():
            loss = (
                -mgp.TransformedDistribution(mgp.Normal(np.zeros(2), 1.0), scale).log_prob(x).mean()
            )
        loss.backward()
        trainer.step(1)
        return loss

    losses = [float(step(x)) for _ in range(60)]
    assert losses[-1] < losses[0]
    onp.testing.assert_allclose(
        onp.exp(scale.log_scale.data().asnumpy()), x.asnumpy().std(0), rtol=0.05
    )
    eager = scale(x)
    scale.hybridize()
    onp.testing.assert_allclose(scale(x).asnumpy(), eager.asnumpy(), rtol=1e-6)


def test_independent_elements_make_one_event():
    base = mgp.Bernoulli(logit=np.zeros((2, 3)))
    independent = mgp.Independent(base, 1)
    assert (
        independent.event_dim == 1
        and not independent.has_grad
        and not independent.has_enumerate_support
    )
    assert independent.log_prob(np.ones((2, 3))).shape == (2,) and independent.entropy().shape == (
        2,
    )
    assert independent.sample((4, 2)).shape == (4, 2, 3) and independent.sample_n(5).shape == (
        5,
        2,
        3,
    )
    assert independent.broadcast_to((4, 2)).mean.shape == (
        4,
        2,
        3,
    ) and independent.variance.shape == (2, 3)
    assert mgp.Independent(base, 0).enumerate_support().shape == (2, 2, 3)
    with pytest.raises(
        NotImplementedError,
        match="Independent does not define enumerate_support for arrays of independent elements",
    ):
        independent.enumerate_support()
    with pytest.raises(
        ValueError, match=r"expected a number from 0 to 2, as the batch has shape \(2, 3\), got 3"
    ):
        mgp.Independent(base, 3)


# --- constraints ----------------------------------------------------------------------------------

A = onp.array([[2.0, 0.6], [0.6, 1.0]])
REGIONS = [
    (constraint.Real(), -1.5, onp.nan),
    (constraint.Boolean(), 1.0, 0.5),
    (constraint.Interval(-1, 2), 2.0, 2.1),
    (constraint.OpenInterval(-1, 2), 1.9, 2.0),
    (constraint.HalfOpenInterval(-1, 2), -1.0, 2.0),
    (constraint.UnitInterval(), 0.0, -0.1),
    (constraint.IntegerInterval(-1, 2), 2.0, 1.5),
    (constraint.IntegerOpenInterval(-1, 2), 1.0, 2.0),
    (constraint.IntegerHalfOpenInterval(-1, 2), -1.0, 2.0),
    (constraint.GreaterThan(1), 1.5, 1.0),
    (constraint.GreaterThanEq(1), 1.0, 0.5),
    (constraint.LessThan(1), 0.5, 1.0),
    (constraint.LessThanEq(1), 1.0, 1.5),
    (constraint.IntegerGreaterThan(1), 2.0, 1.0),
    (constraint.IntegerGreaterThanEq(1), 1.0, 1.5),
    (constraint.IntegerLessThan(1), 0.0, 1.0),
    (constraint.IntegerLessThanEq(1), 1.0, 0.5),
    (constraint.Positive(), 0.1, 0.0),
    (constraint.NonNegative(), 0.0, -0.1),
    (constraint.PositiveInteger(), 1.0, 0.0),
    (constraint.NonNegativeInteger(), 0.0, -1.0),
    (constraint.Simplex(), [0.25, 0.75], [0.5, 0.4]),
    (constraint.LowerTriangular(), onp.tril(A), A),
    (constraint.LowerCholesky(), onp.tril(A), -onp.tril(A)),
    (constraint.PositiveDefinite(), A, [[1.0, 2.0], [2.0, 1.0]]),
    (constraint.PositiveDefinite(), A, onp.ones((2, 3))),
    (
        constraint.Cat([constraint.Positive(), constraint.Real()], lengths=[1, 2]),
        [1.0, -1.0, 0.0],
        [-1.0, 1.0, 0.0],
    ),
    (
        constraint.Stack([constraint.Positive(), constraint.Real()]),
        [[1.0], [-1.0]],
        [[-1.0], [1.0]],
    ),
]


@pytest.mark.parametrize(("region", "inside", "outside"), REGIONS, ids=lambda v: type(v).__name__)
def test_constraints(region, inside, outside):
    with npx.backend("numpy"):
        inside, outside = np.array(inside), np.array(outside)
        assert region.check(inside) is inside
        with pytest.raises(ValueError, match=f"{type(region).__name__}: .*expected .*, got "):
            region.check(outside)


def test_constraints_of_parts_name_the_part():
    parts = constraint.Cat([constraint.Positive(), constraint.Boolean()], axis=1, lengths=[2, 1])
    with pytest.raises(
        ValueError, match=r"Cat: part 1 along axis 1: expected 0 or 1, got 3.0 at index \(0, 0\)"
    ):
        parts.check(np.array([[1.0, 1.0, 3.0]]))
    with pytest.raises(
        ValueError, match=r"Cat: expected length 3 along axis 1, got shape \(1, 2\)"
    ):
        parts.check(np.ones((1, 2)))
    with pytest.raises(ValueError, match="Cat: expected 2 lengths, one for each constraint, got 1"):
        constraint.Cat([constraint.Real()] * 2, lengths=[1])
    with pytest.raises(
        TypeError, match=r"Stack: constraint_seq\[0\]: expected a Constraint, got int"
    ):
        constraint.Stack([1])


def test_a_support_that_depends_on_parameters():
    assert constraint.is_dependent(mgp.Uniform.support) and not constraint.is_dependent(
        mgp.Uniform(0.0, 1.0).support
    )
    with pytest.raises(ValueError, match="depends on the parameters of a distribution"):
        mgp.Uniform.support.check(1.0)


def test_in_compiled_code_a_violation_raises_when_a_result_is_read():
    check = npx.jit(lambda x: constraint.Positive().check(x) * 2)
    assert check(np.array([1.0])).tolist() == [2]
    with pytest.raises(ValueError, match=r"Positive: expected numbers above 0 \(compiled at "):
        check(np.array([-1.0])).asnumpy()


def test_the_helper_returns_a_factor():
    check = mgp.constraint_check()
    assert check(True, "wrong") == 1.0 and bool(check(np.array([True, True]), "wrong"))
    with pytest.raises(ValueError, match="wrong"):
        check(False, "wrong")


# --- domain maps ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "region",
    [
        constraint.Real(), constraint.Positive(), constraint.GreaterThan(2), constraint.GreaterThanEq(-1), constraint.LessThan(3),
        constraint.LessThanEq(0), constraint.Interval(-1, 2), constraint.HalfOpenInterval(np.array([0.0]), np.array([5.0])),
        constraint.OpenInterval(0, 1), constraint.UnitInterval(),
    ],
    ids=lambda v: type(v).__name__,
)  # fmt: skip
def test_maps_lead_into_the_region_and_back(region):
    x = np.array([-3.0, 0.1, 2.0])
    for table in (mgp.biject_to, mgp.transform_to):
        transformation = table(region)
        y = transformation(x)
        assert region.check(y) is y and transformation.bijective
        onp.testing.assert_allclose(
            transformation.inv(y).asnumpy(), x.asnumpy(), rtol=1e-4, atol=1e-4
        )


def test_maps_that_there_are_not():
    vector = mgp.transform_to(constraint.Simplex())(np.array([1.0, 2.0]))
    assert constraint.Simplex().check(vector) is vector
    for region in (constraint.Simplex(), constraint.NonNegativeInteger(), constraint.Boolean()):
        with pytest.raises(
            NotImplementedError,
            match=f"does not define a transformation to {type(region).__name__}; register one",
        ):
            mgp.biject_to(region)
    with pytest.raises(
        TypeError, match="register: constraint: expected a Constraint or a subclass of it, got 3"
    ):
        mgp.biject_to.register(3, mgp.ExpTransform)
