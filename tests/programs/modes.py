"""Ways to run a program, and whether they agree with NumPy."""

import warnings
from contextlib import nullcontext, suppress

import numpy as onp

from npcompat import autograd, np, npx
from npcompat.errors import AutogradError

Lines = list[str]


class DisagreementError(AssertionError):
    """Difference between NumPy and a mode."""


def _run(m, lines: Lines, arrays: list) -> dict:
    names = {f"v{i}": a for i, a in enumerate(arrays)}
    for line in lines:
        exec(line, {"m": m, "n": onp, "pause": nullcontext if m is onp else autograd.pause}, names)
    return names


def expected(lines: Lines, start: list) -> dict:
    with warnings.catch_warnings(), onp.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return _run(onp, lines, [a.copy() for a in start])


def _compare(found: dict, wanted: dict, mode: str) -> None:
    kinds = {v.dtype.name for v in wanted.values()}
    error = 1e-8 if kinds.isdisjoint(("float32", "complex64")) else 2e-4
    error = 1e-2 if "float16" in kinds else error
    for name, theirs in wanted.items():
        mine = found[name]
        if mine.dtype != theirs.dtype or mine.shape != theirs.shape:
            raise DisagreementError(
                f"{mode}: {name} is {mine.dtype}{mine.shape}, NumPy's {theirs.dtype}{theirs.shape}"
            )
        if mode != "compiled" and isinstance(theirs, onp.generic) != isinstance(mine, onp.generic):
            raise DisagreementError(f"{mode}: {name} is a {type(mine)}, NumPy's a {type(theirs)}")
        values, theirs = onp.asarray(mine), onp.asarray(theirs)
        if theirs.dtype.kind in "fc":
            close = onp.allclose(
                values,
                theirs,
                equal_nan=True,
                rtol=error,
                atol=error,
            )
        else:
            close = bool((values == theirs).all())
        if not close:
            raise DisagreementError(
                f"{mode}: {name} is {values.tolist()}, NumPy's {theirs.tolist()}"
            )


def _silently(function):
    with warnings.catch_warnings(), onp.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return function()


def _eager(backend: str):
    def check(lines: Lines, start: list) -> None:
        wanted = expected(lines, start)
        with npx.backend(backend):
            found = _silently(lambda: _run(np, lines, [np.array(a) for a in start]))
        _compare(found, wanted, backend)

    return check


def compiled(lines: Lines, start: list) -> None:
    wanted = expected(lines, start)
    names = list(wanted)

    def program(*arrays):
        made = _run(np, lines, list(arrays))
        return [made[name] for name in names]

    arrays = [np.array(a) for a in start]
    found = _silently(lambda: npx.jit(program)(*arrays))
    _compare(dict(zip(names, found, strict=True)), wanted, "compiled")
    inputs = {f"v{i}": a for i, a in enumerate(arrays)}
    _compare(
        inputs, {n: wanted[n] for n in inputs if n in wanted and not _rebound(n, lines)}, "compiled"
    )


def sharded(lines: Lines, start: list) -> None:
    """Run eagerly on a mesh of two devices; arrays that are written stay where they were."""
    wanted, mesh = expected(lines, start), npx.Mesh(data=2)
    with npx.backend("jax"):
        arrays = [np.array(a, device=_layout(mesh, a.shape)) for a in start]
        places = [a.device for a in arrays]
        found = _silently(lambda: _run(np, lines, arrays))
    _compare(found, wanted, "sharded")
    same = [i for i, a in enumerate(arrays) if a.shape == start[i].shape]
    moved = [f"v{i}" for i in same if arrays[i].device != places[i]]
    if moved:
        raise DisagreementError(f"sharded: {', '.join(moved)} moved")


def _layout(mesh, shape: tuple[int, ...]):
    """Cut the first axis whose length is even."""
    even = [i for i, n in enumerate(shape) if n and n % 2 == 0]
    return mesh(*["data" if even and i == even[0] else None for i in range(len(shape))])


def _rebound(name: str, lines: Lines) -> bool:
    return any(part.strip().startswith(f"{name} =") for line in lines for part in line.split(";"))


def _loss(m, made: dict, count: int):
    total = 0.0
    for i, (name, a) in enumerate(made.items()):
        if int(name[1:]) >= count and a.dtype.kind == "f" and a.size:
            total = total + m.sum(m.sin(a + 0.1 * i))
    return total


def _gradients(lines: Lines, start: list, places: tuple[str, ...]) -> None:
    """Compare with central differences along random directions, where two steps agree."""
    count = len(start)
    rng = onp.random.RandomState(len(lines))
    directions = [rng.randn(*a.shape) for a in start]

    def made(step: float) -> dict:
        moved = [onp.asarray(a + step * d) for a, d in zip(start, directions, strict=True)]
        return expected(lines, moved)

    def at(step: float) -> float:
        return float(_loss(onp, made(step), count))

    slopes = [(at(h) - at(-h)) / (2 * h) for h in (1e-4, 1e-5)]
    if abs(slopes[0] - slopes[1]) > 1e-4 * (1 + abs(slopes[1])) or not onp.isfinite(slopes).all():
        return
    sides = [(at(h) - at(0.0)) / h for h in (1e-5, -1e-5)]
    if abs(sides[0] - sides[1]) > 1e-2 * (1 + abs(slopes[1])):
        return  # a kink, or a jump up on one side and down on the other
    if _jumps(made(0.0), made(1e-5)) or _jumps(made(0.0), made(-1e-5)):
        return  # of several elements, whose sum goes on
    results = {}
    for mode in places:
        with npx.backend("numpy" if mode == "numpy" else "jax"):
            arrays = [np.array(a) for a in start]
            for a in arrays:
                a.attach_grad()

            def step(*given):
                with autograd.record():
                    loss = _loss(np, _run(np, lines, [a.copy() for a in given]), count)
                if type(loss) is float:
                    return
                with suppress(AutogradError):  # all inputs were overwritten: the derivative is zero
                    loss.backward()

            _silently(
                lambda step=step, arrays=arrays, mode=mode: (
                    npx.jit(step) if mode == "compiled" else step
                )(*arrays)
            )
            results[mode] = sum(
                float((a.grad.asnumpy() * d).sum()) for a, d in zip(arrays, directions, strict=True)
            )
    for mode, slope in results.items():
        if not abs(slope - slopes[1]) <= 2e-3 * (1 + abs(slopes[1])):
            raise DisagreementError(f"gradient, {mode}: {slope}, by differences {slopes[1]}")


def _jumps(values: dict, others: dict) -> bool:
    """Return True if an element is another one after a step of 1e-5."""
    return any(
        [
            a.shape != others[name].shape
            or (abs(others[name] - a) > 1e-5 * 1e3 * (1 + abs(a))).any()
            for name, a in values.items()
            if a.dtype.kind == "f"
        ]
    )


def gradients(lines: Lines, start: list) -> None:
    _gradients(lines, start, ("numpy", ("jax", "compiled")[sum(map(len, lines)) % 2]))


def gradients_on_host(lines: Lines, start: list) -> None:
    _gradients(lines, start, ("numpy",))


MODES = {
    "host": _eager("numpy"),
    "xla": _eager("jax"),
    "compiled": compiled,
    "gradients": gradients,
    "host-gradients": gradients_on_host,
    "sharded": sharded,
}
