"""Seed sequences and bit generators.

Seeds are NumPy's: `SeedSequence` gives the same words. The streams are not: bit generators differ
in name only. Each starts a stream of Threefry (Salmon et al., 2011), whose state is a key and the
number of the next draw.
"""

import zlib
from contextlib import AbstractContextManager
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any, Literal, cast, overload

import numpy as onp
from numpy.random.bit_generator import ISeedSequence, ISpawnableSeedSequence, SeedlessSeedSequence

from npcompat._internal.core.handle import Handle
from npcompat._internal.dispatch import array_like, handles
from npcompat._internal.random.stream import Stream
from npcompat.numpy._typing import DTypeLike, ShapeLike
from npcompat.numpy.random._integers import full_range
from npcompat.numpy.random._sampling import Sampler

if TYPE_CHECKING:
    from npcompat.numpy._ndarray import ndarray

_JUMP = 0x9E3779B97F4A7C15  # odd, so that 2**64 jumps give distinct keys


def on_host(x: Any) -> Any:
    """Convert arrays in a seed to NumPy's, scalars included."""
    return handles.to_host(x)[()] if isinstance(x, Handle) else x


class SeedSequence:
    """Seed sequence: mixes entropy into words for any number of independent streams.

    Parameters
    ----------
    entropy : int or sequence of int, optional
        Seed; the system's entropy if not given.
    spawn_key : sequence of int
        The place in a tree of spawned sequences.
    pool_size : int
        Number of 32-bit words in the pool.
    n_children_spawned : int
        Number of children spawned so far.

    Examples
    --------
    >>> np.random.SeedSequence(7).generate_state(2)
    array([2083679832, 3939563265], dtype=uint32)
    """

    def __init__(
        self,
        entropy: Any = None,
        *,
        spawn_key: Any = (),
        pool_size: int = 4,
        n_children_spawned: int = 0,
    ) -> None:
        self._words = onp.random.SeedSequence(
            on_host(entropy),
            spawn_key=on_host(spawn_key),
            pool_size=pool_size,
            n_children_spawned=n_children_spawned,
        )

    @property
    def entropy(self) -> Any:
        """Entropy from which the sequence is made."""
        return self._words.entropy

    @property
    def spawn_key(self) -> tuple[int, ...]:
        """Position in the tree of spawned sequences."""
        return self._words.spawn_key

    @property
    def pool_size(self) -> int:
        """Number of 32-bit words in the pool."""
        return self._words.pool_size

    @property
    def n_children_spawned(self) -> int:
        """Number of children spawned so far."""
        return self._words.n_children_spawned

    @property
    def pool(self) -> "ndarray":
        """Pool of mixed words."""
        return array_like.array_of(onp.array(self._words.pool))

    @property
    def state(self) -> dict[str, Any]:
        """Arguments of the constructor that recreate this sequence."""
        return dict(self._words.state)

    def generate_state(self, n_words: int, dtype: DTypeLike = onp.uint32) -> "ndarray":
        """Return words for the state of a generator; uint32 or uint64."""
        return array_like.array_of(self._words.generate_state(n_words, cast("Any", dtype)))

    def spawn(self, n_children: int) -> "list[SeedSequence]":
        """Spawn children whose words are independent of each other's.

        Examples
        --------
        >>> [s.spawn_key for s in np.random.SeedSequence(7).spawn(2)]
        [(0,), (1,)]
        """
        spawned = [SeedSequence.__new__(SeedSequence) for _ in range(n_children)]
        for child, words in zip(spawned, self._words.spawn(n_children), strict=True):
            child._words = words
        return spawned

    def __repr__(self) -> str:
        return repr(self._words)


ISpawnableSeedSequence.register(SeedSequence)
if TYPE_CHECKING:  # methods return our arrays

    class NumPysGenerator:
        """NumPy's class of the name."""

        def __init__(self, bits: Any) -> None:
            """Store NumPy's bit generator."""

    class NumPysRandomState(NumPysGenerator):
        """NumPy's class of the name."""

else:
    NumPysGenerator = onp.random.Generator
    NumPysRandomState = onp.random.RandomState
_NUMPYS = (onp.random.BitGenerator, onp.random.Generator, onp.random.RandomState)


def refuse_numpys(owner: str, seed: Any) -> None:
    """Raise TypeError for a source of random numbers of NumPy's, whose stream is not ours.

    A stream that it seeded once would not follow what is later drawn from it or set in it.
    """
    if isinstance(seed, _NUMPYS) and not isinstance(seed, Sampler):
        raise TypeError(
            f"{owner}: {type(seed).__name__} is NumPy's, whose stream cannot be shared: give the "
            "seed itself, or numbers drawn from it, as default_rng(rng.integers(2**32, size=4))"
        )


_SEEDING = Lock()
UNUSED_BITS = onp.random.MT19937(0)
"""Bit generator of NumPy's part of each generator, from which nothing is drawn."""


class BitGenerator:
    """Base of bit generators: a seed sequence and its stream.

    Parameters
    ----------
    seed : int, sequence of int or SeedSequence, optional
        Seed of the stream; the system's entropy if not given.
    """

    _count = "counter"
    _numpys: onp.random.PCG64 | None = None

    def __init__(self, seed: Any = None) -> None:
        if type(self) is BitGenerator:
            raise NotImplementedError(
                "BitGenerator is a base class: what can be instantiated must define a stream, as "
                "PCG64"
            )
        refuse_numpys(type(self).__name__, seed)
        self._start(seed if isinstance(seed, ISeedSequence) else SeedSequence(seed))
        first = getattr(self._seed_seq, "_words", self._seed_seq).generate_state(1, onp.uint64)
        self.stream.begin(int(on_host(first)[0]) ^ zlib.crc32(type(self).__name__.encode()))

    def _start(self, seed_seq: Any) -> None:
        self._seed_seq, self.stream, self._lock = seed_seq, Stream(0), RLock()

    @property
    def seed_seq(self) -> SeedSequence:
        """Seed sequence of the stream."""
        return self._seed_seq

    @property
    def lock(self) -> AbstractContextManager[Any]:
        """Lock for threads that share the generator; drawing does not take it."""
        return self._lock

    @property
    def state(self) -> dict[str, Any]:
        """State: name of the generator, key of its stream, number of the next draw; settable.

        Examples
        --------
        >>> bits = np.random.PCG64(7)
        >>> before = bits.state
        >>> a = np.random.Generator(bits).random()
        >>> bits.state = before
        >>> bool(a == np.random.Generator(bits).random())
        True
        """
        key, counter = self.stream.position()
        return {"bit_generator": type(self).__name__, "state": {"key": key, self._count: counter}}

    @state.setter
    def state(self, value: dict[str, Any]) -> None:
        name = type(self).__name__
        # A tuple of `RandomState.get_state`.
        if isinstance(value, tuple | list) and value and value[0] == "MT19937":
            value = {"bit_generator": value[0], "state": {"key": value[1], "pos": value[2]}}
        if not isinstance(value, dict):
            raise TypeError("state must be a dict")
        if value.get("bit_generator", "") != name:
            raise ValueError(f"state must be for a {name} RNG")
        self.stream.begin(_of_words(value["state"]["key"]), int(value["state"][self._count]))

    @property
    def ctypes(self) -> Any:
        """Functions in C by ctypes, as NumPy's; see `capsule`."""
        return self._in_c().ctypes

    @property
    def cffi(self) -> Any:
        """Functions in C by cffi, as NumPy's; see `capsule`."""
        return self._in_c().cffi

    @property
    def capsule(self) -> Any:
        """Structure in C, as NumPy's, for functions of other libraries in C.

        They draw other numbers than the methods here: those of a bit generator of NumPy's, which is
        seeded from the stream at each read of this attribute, so that a program repeats its draws.
        """
        return self._in_c().capsule

    def _in_c(self) -> onp.random.PCG64:
        """Return a bit generator of NumPy's, seeded anew.

        It is always the same one, as functions in C keep its address.
        """
        words = on_host(self.random_raw(4))
        with _SEEDING:
            made = onp.random.PCG64(onp.random.SeedSequence([int(word) for word in words]))
            if self._numpys is None:
                self._numpys = made
            else:
                self._numpys.state = made.state
            return self._numpys

    @overload
    def random_raw(self, size: None = None, output: Literal[True] = True) -> int: ...

    @overload
    def random_raw(self, size: ShapeLike, output: Literal[True] = True) -> "ndarray": ...

    @overload
    def random_raw(self, size: ShapeLike | None = None, *, output: Literal[False]) -> None: ...

    @overload
    def random_raw(self, size: ShapeLike | None, output: Literal[False]) -> None: ...

    def random_raw(
        self, size: ShapeLike | None = None, output: bool = True
    ) -> "int | ndarray | None":
        """Draw random 64-bit numbers; with `output=False` they are discarded.

        Examples
        --------
        >>> np.random.PCG64(7).random_raw(2).dtype
        dtype('uint64')
        """
        drawn = full_range(_Raw(self), size)
        if not output:
            return None
        return int(drawn) if size is None else drawn

    def spawn(self, n_children: int) -> "list[BitGenerator]":
        """Return generators of independent streams.

        Examples
        --------
        >>> a, b = np.random.PCG64(7).spawn(2)
        >>> a.random_raw() == b.random_raw()
        False
        """
        if not isinstance(self._seed_seq, ISpawnableSeedSequence):
            raise TypeError("The underlying SeedSequence does not implement spawning.")
        return [type(self)(seed) for seed in self._seed_seq.spawn(n_children)]

    def __getstate__(self) -> tuple[dict[str, Any], Any]:
        return self.state, self._seed_seq

    def __setstate__(self, state_seed_seq: tuple[dict[str, Any], Any]) -> None:
        state, seed_seq = state_seed_seq
        self._start(seed_seq)
        self.state = state

    def _jumped(self, jumps: int) -> Any:
        key, counter = self.stream.position()
        other = type(self).__new__(type(self))
        other._start(self._seed_seq)
        other.stream.begin(key + int(jumps) * _JUMP, counter)
        return other

    def _advance(self, delta: int) -> None:
        key, counter = self.stream.position()
        self.stream.begin(key, counter + int(delta))


class _Raw(Sampler):
    """Sampler of a bit generator's raw words."""

    def __init__(self, bit_generator: BitGenerator) -> None:
        self._bit_generator = bit_generator


def _of_words(key: Any) -> int:
    """Return a key given as an integer or as two 32-bit words."""
    key = on_host(key)
    if onp.ndim(key):
        high, low = (int(word) for word in key)
        return high << 32 | low
    return int(key)


class MT19937(BitGenerator):
    """Bit generator named after the Mersenne Twister, the default of `RandomState`.

    See `BitGenerator`.

    Examples
    --------
    >>> np.random.Generator(np.random.MT19937(7)).random(2).shape
    (2,)
    """

    _count = "pos"

    def __init__(self, seed: Any = None) -> None:
        super().__init__(seed)

    def jumped(self, jumps: int = 1) -> "MT19937":
        """Return a generator of another stream, determined by the number of jumps."""
        return self._jumped(jumps)

    def _legacy_seeding(self, seed: Any) -> None:
        """Start the stream of a `RandomState` seed: an integer is the key itself."""
        seed = on_host(seed)
        refuse_numpys("RandomState", seed)
        if seed is None:
            self.stream.seed()
        elif hasattr(seed, "__index__") and not getattr(seed, "shape", ()):
            self.stream.seed(seed.__index__())
        else:
            onp.random.RandomState(seed)  # raises the error for an invalid seed
            words = onp.random.SeedSequence([int(n) for n in onp.atleast_1d(seed)])
            self.stream.begin(int(words.generate_state(1, onp.uint64)[0]))


class Philox(BitGenerator):
    """Bit generator named after Philox; see `BitGenerator`.

    Parameters
    ----------
    seed : int, sequence of int or SeedSequence, optional
        Seed of the stream; the system's entropy if not given.
    counter : int or sequence of four int, optional
        Number of the first draw, modulo 2**64.
    key : int or sequence of two int, optional
        The stream, in place of a seed.

    Examples
    --------
    >>> np.random.Philox(7, counter=3).state["state"]["counter"]
    3
    """

    def __init__(self, seed: Any = None, counter: Any = None, key: Any = None) -> None:
        if seed is not None and key is not None:
            raise ValueError("seed and key cannot be both used")
        super().__init__(seed)
        if key is not None:
            words = _joined("key", key, 2)
            self.stream.begin(
                words
                if words < 2**64
                else int(onp.random.SeedSequence(words).generate_state(1, onp.uint64)[0])
            )
        if counter is not None:
            self._advance(_joined("counter", counter, 4))

    def jumped(self, jumps: int = 1) -> "Philox":
        """Return a generator of another stream, determined by the number of jumps."""
        return self._jumped(jumps)

    def advance(self, delta: int) -> "Philox":
        """Skip draws (a negative number goes back)."""
        self._advance(delta)
        return self


def _joined(name: str, given: Any, words: int) -> int:
    """Join 64-bit words, lowest first, to one integer."""
    given = on_host(given)
    if hasattr(given, "__index__") and not getattr(given, "shape", ()):
        number = int(given)
        if number < 0 or number >= 2 ** (64 * words):
            raise ValueError(f"{name} must be positive and less than 2**{64 * words}.")
        return number
    if len(given) != words:
        raise ValueError(f"{name} must have {words} elements when using array form")
    return sum(int(word) << (64 * i) for i, word in enumerate(given))


class PCG64(BitGenerator):
    """Bit generator named after PCG-64, the default of `default_rng`; see `BitGenerator`.

    Examples
    --------
    >>> a, b = np.random.Generator(np.random.PCG64(7)), np.random.default_rng(7)
    >>> bool(a.random() == b.random())
    True
    """

    def __init__(self, seed: Any = None) -> None:
        super().__init__(seed)

    def jumped(self, jumps: int = 1) -> "PCG64":
        """Return a generator of another stream, determined by the number of jumps."""
        return self._jumped(jumps)

    def advance(self, delta: int) -> "PCG64":
        """Skip draws (a negative number goes back).

        Examples
        --------
        >>> np.random.PCG64(7).advance(5).state["state"]["counter"]
        5
        """
        self._advance(delta)
        return self


class PCG64DXSM(BitGenerator):
    """Bit generator named after PCG-64 DXSM; see `BitGenerator`.

    Examples
    --------
    >>> np.random.Generator(np.random.PCG64DXSM(7)).random(2).shape
    (2,)
    """

    def __init__(self, seed: Any = None) -> None:
        super().__init__(seed)

    def jumped(self, jumps: int = 1) -> "PCG64DXSM":
        """Return a generator of another stream, determined by the number of jumps."""
        return self._jumped(jumps)

    def advance(self, delta: int) -> "PCG64DXSM":
        """Skip draws (a negative number goes back)."""
        self._advance(delta)
        return self


class SFC64(BitGenerator):
    """Bit generator named after SFC-64; see `BitGenerator`.

    Examples
    --------
    >>> np.random.Generator(np.random.SFC64(7)).random(2).shape
    (2,)
    """

    def __init__(self, seed: Any = None) -> None:
        super().__init__(seed)


_KINDS = {kind.__name__: kind for kind in (MT19937, PCG64, PCG64DXSM, Philox, SFC64)}


def bit_generator(given: BitGenerator | str) -> BitGenerator:
    """Return a bit generator, or create one by name; used by pickles."""
    if isinstance(given, str) and given not in _KINDS:
        raise ValueError(f"{given} is not a known BitGenerator module.")
    return _KINDS[given]() if isinstance(given, str) else given


__all__ = [
    "MT19937", "PCG64", "PCG64DXSM", "SFC64", "UNUSED_BITS", "BitGenerator", "ISeedSequence",
    "ISpawnableSeedSequence", "NumPysGenerator", "NumPysRandomState", "Philox", "SeedSequence",
    "SeedlessSeedSequence", "refuse_numpys",
]  # fmt: skip
