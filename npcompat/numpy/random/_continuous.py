"""Continuous distributions.

Each is one operator. Gradients with respect to parameters are pathwise derivatives of the sample
(reparameterization).
"""

from typing import TYPE_CHECKING, Any

from npcompat.numpy._typing import ArrayLike, DTypeLike, Out, ShapeLike
from npcompat.numpy.random._parameters import check, parameter
from npcompat.numpy.random._sampling import Sampler, float_op

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray

_beta = float_op("beta")
_chisquare = float_op("chisquare")
_exponential = float_op("exponential", prefetchable=True)
_f = float_op("f")
_gamma = float_op("gamma")
_gumbel = float_op("gumbel", prefetchable=True)
_laplace = float_op("laplace", prefetchable=True)
_logistic = float_op("logistic", prefetchable=True)
_lognormal = float_op("lognormal", prefetchable=True)
_noncentral_chisquare = float_op("noncentral_chisquare")
_noncentral_f = float_op("noncentral_f")
_normal = float_op("normal", prefetchable=True)
_pareto = float_op("pareto", prefetchable=True)
_power = float_op("power", prefetchable=True)
_rayleigh = float_op("rayleigh", prefetchable=True)
_standard_cauchy = float_op("standard_cauchy", prefetchable=True)
_standard_t = float_op("standard_t")
_triangular = float_op("triangular", prefetchable=True)
_uniform = float_op("uniform", prefetchable=True, rounding_independent_of_size=True)
_vonmises = float_op("vonmises")
_wald = float_op("wald")
_weibull = float_op("weibull", prefetchable=True)


class Continuous(Sampler):
    """Mixin of continuous distributions.

    Each method takes its parameters, which broadcast, and then

    - `size`, an int or a tuple of ints: the shape of the result, that of the parameters if not
      given;
    - `dtype`, a float dtype: the default float if not given;
    - `device` or `ctx`, a device or its name: where to place the result;
    - `out`, an array: where the result is written.
    """

    _legacy = False

    def beta(
        self,
        a: ArrayLike,
        b: ArrayLike,
        size: ShapeLike | None = None,
        *,
        dtype: DTypeLike = None,
        device: Any = None,
        ctx: Any = None,
        out: Out = None,
    ) -> "ndarray":
        """Beta distribution: density proportional to x**(a-1) * (1-x)**(b-1) on [0, 1].

        Examples
        --------
        >>> np.random.beta(2.0, 3.0, size=3).shape
        (3,)
        """
        a, b = parameter(a), parameter(b)
        check("a", "positive", a)
        check("b", "positive", b)
        return self._floats(_beta, (a, b), size, dtype, device, ctx, out)

    def chisquare(
        self,
        df: ArrayLike,
        size: ShapeLike | None = None,
        *,
        dtype: DTypeLike = None,
        device: Any = None,
        ctx: Any = None,
        out: Out = None,
    ) -> "ndarray":
        """Chi-square distribution: the sum of `df` squares of standard normal variates.

        Examples
        --------
        >>> np.random.chisquare(4, size=3).shape
        (3,)
        """
        df = parameter(df)
        check("df", "positive", df)
        return self._floats(_chisquare, (df,), size, dtype, device, ctx, out)

    def exponential(
        self,
        scale: ArrayLike = 1.0,
        size: ShapeLike | None = None,
        *,
        dtype: DTypeLike = None,
        device: Any = None,
        ctx: Any = None,
        out: Out = None,
    ) -> "ndarray":
        """Exponential distribution with mean `scale`.

        Examples
        --------
        >>> bool((np.random.exponential(2.0, size=10) >= 0).all())
        True
        """
        scale = parameter(scale)
        check("scale", "nonnegative", scale)
        return self._floats(_exponential, (scale,), size, dtype, device, ctx, out)

    def f(
        self,
        dfnum: ArrayLike,
        dfden: ArrayLike,
        size: ShapeLike | None = None,
        *,
        dtype: DTypeLike = None,
        device: Any = None,
        ctx: Any = None,
        out: Out = None,
    ) -> "ndarray":
        """F distribution (Fisher) with degrees of freedom of numerator and denominator.

        Examples
        --------
        >>> np.random.f(4, 8, size=3).shape
        (3,)
        """
        dfnum, dfden = parameter(dfnum), parameter(dfden)
        check("dfnum", "positive", dfnum)
        check("dfden", "positive", dfden)
        return self._floats(_f, (dfnum, dfden), size, dtype, device, ctx, out)

    def gamma(
        self,
        shape: ArrayLike,
        scale: ArrayLike = 1.0,
        size: ShapeLike | None = None,
        *,
        dtype: DTypeLike = None,
        device: Any = None,
        ctx: Any = None,
        out: Out = None,
    ) -> "ndarray":
        """Gamma distribution with mean `shape * scale`.

        Examples
        --------
        >>> np.random.gamma(2.0, size=3).shape
        (3,)
        """
        shape, scale = parameter(shape), parameter(scale)
        check("shape", "nonnegative", shape)
        check("scale", "nonnegative", scale)
        return self._floats(_gamma, (shape, scale), size, dtype, device, ctx, out)

    def gumbel(
        self,
        loc: ArrayLike = 0.0,
        scale: ArrayLike = 1.0,
        size: ShapeLike | None = None,
        *,
        dtype: DTypeLike = None,
        device: Any = None,
        ctx: Any = None,
        out: Out = None,
    ) -> "ndarray":
        """Gumbel distribution (extreme value type I) with mode `loc`.

        Examples
        --------
        >>> np.random.gumbel(size=3).shape
        (3,)
        """
        loc, scale = parameter(loc), parameter(scale)
        check("scale", "nonnegative", scale)
        return self._floats(_gumbel, (loc, scale), size, dtype, device, ctx, out)

    def laplace(
        self,
        loc: ArrayLike = 0.0,
        scale: ArrayLike = 1.0,
        size: ShapeLike | None = None,
        *,
        dtype: DTypeLike = None,
        device: Any = None,
        ctx: Any = None,
        out: Out = None,
    ) -> "ndarray":
        """Laplace (double exponential) distribution around `loc`.

        Examples
        --------
        >>> np.random.laplace(size=3).shape
        (3,)
        """
        loc, scale = parameter(loc), parameter(scale)
        check("scale", "nonnegative", scale)
        return self._floats(_laplace, (loc, scale), size, dtype, device, ctx, out)

    def logistic(
        self,
        loc: ArrayLike = 0.0,
        scale: ArrayLike = 1.0,
        size: ShapeLike | None = None,
        *,
        dtype: DTypeLike = None,
        device: Any = None,
        ctx: Any = None,
        out: Out = None,
    ) -> "ndarray":
        """Logistic distribution with mean `loc`.

        Examples
        --------
        >>> np.random.logistic(size=3).shape
        (3,)
        """
        loc, scale = parameter(loc), parameter(scale)
        check("scale", "nonnegative", scale)
        return self._floats(_logistic, (loc, scale), size, dtype, device, ctx, out)

    def lognormal(
        self,
        mean: ArrayLike = 0.0,
        sigma: ArrayLike = 1.0,
        size: ShapeLike | None = None,
        *,
        dtype: DTypeLike = None,
        device: Any = None,
        ctx: Any = None,
        out: Out = None,
    ) -> "ndarray":
        """Log-normal distribution; mean and sigma are those of the logarithm.

        Examples
        --------
        >>> bool((np.random.lognormal(size=10) > 0).all())
        True
        """
        mean, sigma = parameter(mean), parameter(sigma)
        check("sigma", "nonnegative", sigma)
        return self._floats(_lognormal, (mean, sigma), size, dtype, device, ctx, out)

    def noncentral_chisquare(
        self,
        df: ArrayLike,
        nonc: ArrayLike,
        size: ShapeLike | None = None,
        *,
        dtype: DTypeLike = None,
        device: Any = None,
        ctx: Any = None,
        out: Out = None,
    ) -> "ndarray":
        """Noncentral chi-square distribution.

        It is differentiable in `df`, and in `nonc` where `df` > 1.

        Examples
        --------
        >>> np.random.noncentral_chisquare(3, 2, size=3).shape
        (3,)
        """
        df, nonc = parameter(df), parameter(nonc)
        check("df", "positive", df)
        check("nonc", "nonnegative", nonc)
        return self._floats(_noncentral_chisquare, (df, nonc), size, dtype, device, ctx, out)

    def noncentral_f(
        self,
        dfnum: ArrayLike,
        dfden: ArrayLike,
        nonc: ArrayLike,
        size: ShapeLike | None = None,
        *,
        dtype: DTypeLike = None,
        device: Any = None,
        ctx: Any = None,
        out: Out = None,
    ) -> "ndarray":
        """Noncentral F distribution; differentiable in `nonc` where `dfnum` > 1.

        Examples
        --------
        >>> np.random.noncentral_f(3, 8, 2, size=3).shape
        (3,)
        """
        dfnum, dfden, nonc = parameter(dfnum), parameter(dfden), parameter(nonc)
        check("dfnum", "positive", dfnum)
        check("dfden", "positive", dfden)
        check("nonc", "nonnegative", nonc)
        return self._floats(_noncentral_f, (dfnum, dfden, nonc), size, dtype, device, ctx, out)

    def normal(
        self,
        loc: ArrayLike = 0.0,
        scale: ArrayLike = 1.0,
        size: ShapeLike | None = None,
        *,
        dtype: DTypeLike = None,
        device: Any = None,
        ctx: Any = None,
        out: Out = None,
    ) -> "ndarray":
        """Normal (Gaussian) distribution with mean `loc` and standard deviation `scale`.

        Examples
        --------
        >>> np.random.normal(0, 1, size=(2, 3)).shape
        (2, 3)
        """
        loc, scale = parameter(loc), parameter(scale)
        check("scale", "nonnegative", scale)
        return self._floats(_normal, (loc, scale), size, dtype, device, ctx, out)

    def pareto(
        self,
        a: ArrayLike,
        size: ShapeLike | None = None,
        *,
        dtype: DTypeLike = None,
        device: Any = None,
        ctx: Any = None,
        out: Out = None,
    ) -> "ndarray":
        """Pareto II (Lomax) distribution, from 0 on: (1 + x)**-a lies above x.

        Examples
        --------
        >>> bool((np.random.pareto(3.0, size=10) >= 0).all())
        True
        """
        a = parameter(a)
        check("a", "positive", a)
        return self._floats(_pareto, (a,), size, dtype, device, ctx, out)

    def power(
        self,
        a: ArrayLike,
        size: ShapeLike | None = None,
        *,
        dtype: DTypeLike = None,
        device: Any = None,
        ctx: Any = None,
        out: Out = None,
    ) -> "ndarray":
        """Power distribution: density a * x**(a - 1) on [0, 1].

        Examples
        --------
        >>> bool((np.random.power(3.0, size=10) <= 1).all())
        True
        """
        a = parameter(a)
        check("a", "positive", a)
        return self._floats(_power, (a,), size, dtype, device, ctx, out)

    def rayleigh(
        self,
        scale: ArrayLike = 1.0,
        size: ShapeLike | None = None,
        *,
        dtype: DTypeLike = None,
        device: Any = None,
        ctx: Any = None,
        out: Out = None,
    ) -> "ndarray":
        """Rayleigh distribution: the length of a vector of two normal components.

        Examples
        --------
        >>> bool((np.random.rayleigh(size=10) >= 0).all())
        True
        """
        scale = parameter(scale)
        check("scale", "nonnegative", scale)
        return self._floats(_rayleigh, (scale,), size, dtype, device, ctx, out)

    def standard_cauchy(
        self,
        size: ShapeLike | None = None,
        *,
        dtype: DTypeLike = None,
        device: Any = None,
        ctx: Any = None,
        out: Out = None,
    ) -> "ndarray":
        """Cauchy distribution with mode 0.

        Examples
        --------
        >>> np.random.standard_cauchy(3).shape
        (3,)
        """
        return self._floats(_standard_cauchy, (), size, dtype, device, ctx, out)

    def standard_t(
        self,
        df: ArrayLike,
        size: ShapeLike | None = None,
        *,
        dtype: DTypeLike = None,
        device: Any = None,
        ctx: Any = None,
        out: Out = None,
    ) -> "ndarray":
        """Student's t distribution with `df` degrees of freedom.

        Examples
        --------
        >>> np.random.standard_t(5, size=3).shape
        (3,)
        """
        df = parameter(df)
        check("df", "positive", df)
        return self._floats(_standard_t, (df,), size, dtype, device, ctx, out)

    def triangular(
        self,
        left: ArrayLike,
        mode: ArrayLike,
        right: ArrayLike,
        size: ShapeLike | None = None,
        *,
        dtype: DTypeLike = None,
        device: Any = None,
        ctx: Any = None,
        out: Out = None,
    ) -> "ndarray":
        """Triangular distribution on [left, right] with its peak at `mode`.

        Examples
        --------
        >>> bool((np.random.triangular(-1, 0, 2, size=10) <= 2).all())
        True
        """
        left, mode, right = parameter(left), parameter(mode), parameter(right)
        check("left > mode", "ordered", left, mode)
        check("mode > right", "ordered", mode, right)
        check("left == right", "distinct", left, right)
        return self._floats(_triangular, (left, mode, right), size, dtype, device, ctx, out)

    def uniform(
        self,
        low: ArrayLike = 0.0,
        high: ArrayLike = 1.0,
        size: ShapeLike | None = None,
        *,
        dtype: DTypeLike = None,
        device: Any = None,
        ctx: Any = None,
        out: Out = None,
    ) -> "ndarray":
        """Uniform distribution on [low, high).

        The arguments after the bounds are those of every distribution.

        Parameters
        ----------
        low, high : array_like of float
            Bounds.
        size : int or tuple of int, optional
            Shape of the result; that of the broadcast bounds if not given.
        dtype : dtype, optional
            A float dtype; the default float if not given.
        device, ctx : Device or str, optional
            Device of the result.
        out : ndarray, optional
            Array to write the result into.

        Examples
        --------
        >>> np.random.seed(1)
        >>> x = np.random.uniform(2, 3, size=(100,))
        >>> bool((x >= 2).all() and (x < 3).all())
        True
        """
        below, above = parameter(low), parameter(high)
        length = above - below
        check("high - low", "finite", length, kind=OverflowError)
        if not self._legacy:
            check("high - low", "nonnegative", length)
        return self._floats(_uniform, (below, above), size, dtype, device, ctx, out)

    def vonmises(
        self,
        mu: ArrayLike,
        kappa: ArrayLike,
        size: ShapeLike | None = None,
        *,
        dtype: DTypeLike = None,
        device: Any = None,
        ctx: Any = None,
        out: Out = None,
    ) -> "ndarray":
        """Von Mises distribution of angles in [-pi, pi], around `mu` with concentration `kappa`.

        Examples
        --------
        >>> bool((abs(np.random.vonmises(0, 2, size=10)) <= 3.1416).all())
        True
        """
        mu, kappa = parameter(mu), parameter(kappa)
        check("kappa", "nonnegative", kappa)
        return self._floats(_vonmises, (mu, kappa), size, dtype, device, ctx, out)

    def wald(
        self,
        mean: ArrayLike,
        scale: ArrayLike,
        size: ShapeLike | None = None,
        *,
        dtype: DTypeLike = None,
        device: Any = None,
        ctx: Any = None,
        out: Out = None,
    ) -> "ndarray":
        """Wald (inverse Gaussian) distribution.

        Examples
        --------
        >>> bool((np.random.wald(1, 2, size=10) > 0).all())
        True
        """
        mean, scale = parameter(mean), parameter(scale)
        check("mean", "positive", mean)
        check("scale", "positive", scale)
        return self._floats(_wald, (mean, scale), size, dtype, device, ctx, out)

    def weibull(
        self,
        a: ArrayLike,
        size: ShapeLike | None = None,
        *,
        dtype: DTypeLike = None,
        device: Any = None,
        ctx: Any = None,
        out: Out = None,
    ) -> "ndarray":
        """Weibull distribution with shape `a` and scale 1.

        Examples
        --------
        >>> bool((np.random.weibull(2.0, size=10) >= 0).all())
        True
        """
        a = parameter(a)
        check("a", "nonnegative", a)
        return self._floats(_weibull, (a,), size, dtype, device, ctx, out)


__all__ = ["Continuous"]
