"""Discrete distributions of numbers; samples are int64."""

from typing import TYPE_CHECKING, Any

from npcompat.numpy._typing import ArrayLike, Out, ShapeLike
from npcompat.numpy.random._parameters import check, parameter, whole
from npcompat.numpy.random._sampling import Sampler, count_op

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray

_binomial = count_op("binomial")
_geometric = count_op("geometric")
_hypergeometric = count_op("hypergeometric")
_logseries = count_op("logseries")
_negative_binomial = count_op("negative_binomial")
_poisson = count_op("poisson")
_zipf = count_op("zipf")


class Counts(Sampler):
    """Mixin of discrete distributions; see `Continuous` for the arguments after the parameters."""

    _legacy = False

    def binomial(
        self,
        n: ArrayLike,
        p: ArrayLike,
        size: ShapeLike | None = None,
        *,
        device: Any = None,
        ctx: Any = None,
        out: Out = None,
    ) -> "ndarray":
        """Binomial distribution: successes in `n` trials of probability `p`.

        Examples
        --------
        >>> int(np.random.binomial(5, 1.0))
        5
        """
        n, p = whole(n, truncated=True), parameter(p)
        check("n", "nonnegative", n)
        check("p", "probability", p)
        return self._counts(_binomial, (n, p), size, device, ctx, out)

    def geometric(
        self,
        p: ArrayLike,
        size: ShapeLike | None = None,
        *,
        device: Any = None,
        ctx: Any = None,
        out: Out = None,
    ) -> "ndarray":
        """Geometric distribution: the number of the first successful trial, probability `p`.

        Examples
        --------
        >>> int(np.random.geometric(1.0))
        1
        """
        p = parameter(p)
        check("p", "positive probability", p)
        return self._counts(_geometric, (p,), size, device, ctx, out)

    def hypergeometric(
        self,
        ngood: ArrayLike,
        nbad: ArrayLike,
        nsample: ArrayLike,
        size: ShapeLike | None = None,
        *,
        device: Any = None,
        ctx: Any = None,
        out: Out = None,
    ) -> "ndarray":
        """Hypergeometric distribution: good ones in a sample without replacement.

        The sample of `nsample` is drawn from `ngood` and `nbad`.

        Examples
        --------
        >>> int(np.random.hypergeometric(3, 4, 7))
        3
        """
        ngood, nbad, nsample = whole(ngood), whole(nbad), whole(nsample)
        if not self._legacy:
            check("ngood", "less than 1000000000", ngood)
            check("nbad", "less than 1000000000", nbad)
        check("ngood", "nonnegative", ngood)
        check("nbad", "nonnegative", nbad)
        check("nsample", "at least one" if self._legacy else "nonnegative", nsample)
        check("", "enough", ngood, nbad, nsample)
        return self._counts(_hypergeometric, (ngood, nbad, nsample), size, device, ctx, out)

    def logseries(
        self,
        p: ArrayLike,
        size: ShapeLike | None = None,
        *,
        device: Any = None,
        ctx: Any = None,
        out: Out = None,
    ) -> "ndarray":
        """Logarithmic series distribution: k has a probability proportional to p**k / k.

        Examples
        --------
        >>> bool((np.random.logseries(0.5, size=10) >= 1).all())
        True
        """
        p = parameter(p)
        check("p", "probability below one", p)
        return self._counts(_logseries, (p,), size, device, ctx, out)

    def negative_binomial(
        self,
        n: ArrayLike,
        p: ArrayLike,
        size: ShapeLike | None = None,
        *,
        device: Any = None,
        ctx: Any = None,
        out: Out = None,
    ) -> "ndarray":
        """Negative binomial distribution: failures before `n` successes.

        The probability of success is `p`; `n` need not be an integer.

        Examples
        --------
        >>> int(np.random.negative_binomial(5, 1.0))
        0
        """
        n, p = parameter(n), parameter(p)
        if not self._legacy:
            check("n", "number", n)
        check("n", "positive", n)
        check("p", "probability" if self._legacy else "positive probability", p)
        if not self._legacy:
            check(
                "n too large or p too small, see Generator.negative_binomial Notes",
                "bounded mean",
                n,
                p,
            )
        return self._counts(_negative_binomial, (n, p), size, device, ctx, out)

    def poisson(
        self,
        lam: ArrayLike = 1.0,
        size: ShapeLike | None = None,
        *,
        device: Any = None,
        ctx: Any = None,
        out: Out = None,
    ) -> "ndarray":
        """Poisson distribution with mean `lam`.

        Examples
        --------
        >>> np.random.poisson(3.0, size=4).dtype
        dtype('int64')
        """
        lam = parameter(lam)
        check("lam", "rate", lam)
        check("lam", "bounded rate", lam)
        return self._counts(_poisson, (lam,), size, device, ctx, out)

    def zipf(
        self,
        a: ArrayLike,
        size: ShapeLike | None = None,
        *,
        device: Any = None,
        ctx: Any = None,
        out: Out = None,
    ) -> "ndarray":
        """Zipf distribution: k has a probability proportional to k**-a.

        Examples
        --------
        >>> bool((np.random.zipf(2.0, size=10) >= 1).all())
        True
        """
        a = parameter(a)
        check("a", "above one", a)
        return self._counts(_zipf, (a,), size, device, ctx, out)


__all__ = ["Counts"]
