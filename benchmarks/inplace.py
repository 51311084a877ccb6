"""One element written in a loop, against the size of the array: the time must not depend on it."""

from benchmarks.timing import interleaved
from npcompat import np, npx

SIZES = (10**3, 10**5, 10**7)


def run(seconds: float) -> dict[str, float]:
    """Print the table; returns the time at each size relative to the smallest."""
    functions = {}
    for size in SIZES:
        array = np.zeros(size)
        state = {"i": 0}

        def write(array: object = array, state: dict[str, int] = state) -> None:
            state["i"] = (state["i"] + 1) % 1000
            array[state["i"]] = 1.5  # type: ignore[index]

        functions[f"{size:.0e}"] = write
    times = interleaved(functions, seconds)
    npx.waitall()
    ratios = {name: times.ratio(name, f"{SIZES[0]:.0e}") for name in functions}
    for name, ratio in ratios.items():
        print(f"a[i] = 1.5, {name} elements: {times[name]:8.2f} us, {ratio:5.2f}x the smallest")
    return ratios
