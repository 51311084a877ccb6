"""Seeds and bit generators: ways to begin a stream.

Seeds are NumPy's: `SeedSequence` gives the same words. The streams are not: the bit generators
differ in name only, each begins a stream of Threefry (Salmon et al., 2011), whose state is a key
and the number of the next draw.
"""

import zlib
from threading import RLock
from typing import Any

import numpy as onp
from numpy.random.bit_generator import ISeedSequence, ISpawnableSeedSequence, SeedlessSeedSequence

from npcompat._internal.core.handle import Handle
from npcompat._internal.dispatch import array_like, handles
from npcompat._internal.random.stream import Stream
from npcompat.numpy._typing import DTypeLike, ShapeLike
from npcompat.numpy.random._integers import full_range
from npcompat.numpy.random._sampling import Sampler

_JUMP = 0x9E3779B97F4A7C15  # an odd number: 2**64 jumps give as many keys


def on_host(x: Any) -> Any:
    """A seed with arrays as NumPy's, and scalars as well."""
    return handles.to_host(x)[()] if isinstance(x, Handle) else x


class SeedSequence:
    """Entropy, mixed: from one seed, words for any number of independent streams.

    Parameters
    ----------
    entropy : int or sequence of int, optional
        Where to begin; from the system's entropy if not given.
    spawn_key : sequence of int
        The place in a tree of spawned sequences.
    pool_size : int
        How many 32-bit words are kept.
    n_children_spawned : int
        How many children there are already.

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
        """Where the sequence begins."""
        return self._words.entropy

    @property
    def spawn_key(self) -> tuple[int, ...]:
        """The place in a tree of spawned sequences."""
        return self._words.spawn_key

    @property
    def pool_size(self) -> int:
        """How many 32-bit words are kept."""
        return self._words.pool_size

    @property
    def n_children_spawned(self) -> int:
        """How many children there are."""
        return self._words.n_children_spawned

    @property
    def pool(self) -> Any:
        """The mixed words."""
        return array_like.array_of(onp.array(self._words.pool))

    @property
    def state(self) -> dict[str, Any]:
        """What the constructor needs to make this sequence again."""
        return dict(self._words.state)

    def generate_state(self, n_words: int, dtype: DTypeLike = onp.uint32) -> Any:
        """Words for the state of a generator; uint32 or uint64."""
        return array_like.array_of(self._words.generate_state(n_words, dtype))

    def spawn(self, n_children: int) -> "list[SeedSequence]":
        """Children, whose words are independent of each other's.

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


class BitGenerator:
    """The base of bit generators: a seed sequence, and the stream that it begins.

    Parameters
    ----------
    seed : int, sequence of int or SeedSequence, optional
        Where the stream begins; from the system's entropy if not given.
    """

    _count = "counter"

    def __init__(self, seed: Any = None) -> None:
        if type(self) is BitGenerator:
            raise NotImplementedError(
                "BitGenerator is a base class: what can be instantiated must define a stream, as "
                "PCG64"
            )
        self._start(seed if isinstance(seed, ISeedSequence) else SeedSequence(seed))
        first = getattr(self._seed_seq, "_words", self._seed_seq).generate_state(1, onp.uint64)
        self.stream.begin(int(on_host(first)[0]) ^ zlib.crc32(type(self).__name__.encode()))

    def _start(self, seed_seq: Any) -> None:
        self._seed_seq, self.stream, self._lock = seed_seq, Stream(0), RLock()

    @property
    def seed_seq(self) -> Any:
        """The seed sequence."""
        return self._seed_seq

    @property
    def lock(self) -> Any:
        """A lock for those who share the generator between threads; drawing does not take it."""
        return self._lock

    @property
    def state(self) -> dict[str, Any]:
        """Name of the generator, key of its stream, and number of the next draw; it can be set.

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
        if (
            isinstance(value, tuple | list) and value and value[0] == "MT19937"
        ):  # what `RandomState.get_state` returns
            value = {"bit_generator": value[0], "state": {"key": value[1], "pos": value[2]}}
        if not isinstance(value, dict):
            raise TypeError("state must be a dict")
        if value.get("bit_generator", "") != name:
            raise ValueError(f"state must be for a {name} RNG")
        self.stream.begin(_of_words(value["state"]["key"]), int(value["state"][self._count]))

    @property
    def ctypes(self) -> Any:
        """NumPy's functions in C."""
        raise NotImplementedError("BitGenerator.ctypes: there are no functions in C")

    @property
    def cffi(self) -> Any:
        """NumPy's functions in C."""
        raise NotImplementedError("BitGenerator.cffi: there are no functions in C")

    @property
    def capsule(self) -> Any:
        """NumPy's structure in C."""
        raise NotImplementedError("BitGenerator.capsule: there is no structure in C")

    def random_raw(self, size: ShapeLike | None = None, output: bool = True) -> Any:
        """Random 64-bit numbers; with `output=False` they are drawn and forgotten.

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
        """Generators of independent streams.

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
    """Draws from a bit generator itself."""

    def __init__(self, bit_generator: BitGenerator) -> None:
        self._bit_generator = bit_generator


def _of_words(key: Any) -> int:
    """A key that is an integer, or two words of 32 bits."""
    key = on_host(key)
    if onp.ndim(key):
        high, low = (int(word) for word in key)
        return high << 32 | low
    return int(key)


class MT19937(BitGenerator):
    """A bit generator under the name of the Mersenne Twister, on which `RandomState` draws; see
    `BitGenerator`.

    Examples
    --------
    >>> np.random.Generator(np.random.MT19937(7)).random(2).shape
    (2,)
    """

    _count = "pos"

    def __init__(self, seed: Any = None) -> None:
        super().__init__(seed)

    def jumped(self, jumps: int = 1) -> "MT19937":
        """A generator of another stream, the same for the same number of jumps."""
        return self._jumped(jumps)  # type: ignore[no-any-return]

    def _legacy_seeding(self, seed: Any) -> None:
        """Begin the stream of a seed of `RandomState`: an integer is the key itself."""
        seed = on_host(seed)
        if seed is None:
            self.stream.seed()
        elif hasattr(seed, "__index__") and not getattr(seed, "shape", ()):
            self.stream.seed(seed.__index__())
        else:
            onp.random.RandomState(seed)  # which says what is wrong with it
            words = onp.random.SeedSequence([int(n) for n in onp.atleast_1d(seed)])
            self.stream.begin(int(words.generate_state(1, onp.uint64)[0]))


class Philox(BitGenerator):
    """A bit generator under the name of Philox; see `BitGenerator`.

    Parameters
    ----------
    seed : int, sequence of int or SeedSequence, optional
        Where the stream begins; from the system's entropy if not given.
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
        """A generator of another stream, the same for the same number of jumps."""
        return self._jumped(jumps)  # type: ignore[no-any-return]

    def advance(self, delta: int) -> "Philox":
        """Skip draws (a negative number goes back)."""
        self._advance(delta)
        return self


def _joined(name: str, given: Any, words: int) -> int:
    """One integer of 64-bit words, lowest first, or of an integer."""
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
    """A bit generator under the name of PCG-64, on which `default_rng` draws; see `BitGenerator`.

    Examples
    --------
    >>> a, b = np.random.Generator(np.random.PCG64(7)), np.random.default_rng(7)
    >>> bool(a.random() == b.random())
    True
    """

    def __init__(self, seed: Any = None) -> None:
        super().__init__(seed)

    def jumped(self, jumps: int = 1) -> "PCG64":
        """A generator of another stream, the same for the same number of jumps."""
        return self._jumped(jumps)  # type: ignore[no-any-return]

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
    """A bit generator under the name of PCG-64 DXSM; see `BitGenerator`.

    Examples
    --------
    >>> np.random.Generator(np.random.PCG64DXSM(7)).random(2).shape
    (2,)
    """

    def __init__(self, seed: Any = None) -> None:
        super().__init__(seed)

    def jumped(self, jumps: int = 1) -> "PCG64DXSM":
        """A generator of another stream, the same for the same number of jumps."""
        return self._jumped(jumps)  # type: ignore[no-any-return]

    def advance(self, delta: int) -> "PCG64DXSM":
        """Skip draws (a negative number goes back)."""
        self._advance(delta)
        return self


class SFC64(BitGenerator):
    """A bit generator under the name of SFC-64; see `BitGenerator`.

    Examples
    --------
    >>> np.random.Generator(np.random.SFC64(7)).random(2).shape
    (2,)
    """

    def __init__(self, seed: Any = None) -> None:
        super().__init__(seed)


_KINDS = {kind.__name__: kind for kind in (MT19937, PCG64, PCG64DXSM, Philox, SFC64)}


def bit_generator(given: BitGenerator | str) -> BitGenerator:
    """A bit generator as it is, or a new one of a name; for pickles of what draws from it."""
    if isinstance(given, str) and given not in _KINDS:
        raise ValueError(f"{given} is not a known BitGenerator module.")
    return _KINDS[given]() if isinstance(given, str) else given


__all__ = [
    "MT19937", "PCG64", "PCG64DXSM", "SFC64", "BitGenerator", "ISeedSequence",
    "ISpawnableSeedSequence", "Philox", "SeedSequence", "SeedlessSeedSequence",
]  # fmt: skip
