"""Random programs with state: blocks, containers and trainers that change between calls.

A program is a list of lines; the eager run of it is what the compiled one must equal.
"""

import random
import warnings
import weakref
from typing import Any

import numpy as onp

from npcompat import autograd, gluon, init, lr_scheduler, np, npx, optimizer
from tests.programs.modes import DisagreementError


class Settings:
    """Settings with a method, which an instance may hide."""

    def __init__(self, k: float) -> None:
        self.k = k

    def scale(self) -> float:
        return 1.0


class Gain:
    """A class whose objects compiled functions make."""

    level = 1.0

    def __call__(self, x):
        return x * self.level


class Heavy(optimizer.Optimizer):
    """Heavy ball, as a user writes it."""

    def __init__(self, gain: float = 1.0, **options: Any) -> None:
        super().__init__(**options)
        self.gain = gain

    def create_state(self, index, weight):
        return np.zeros_like(weight)

    def step(self, indices, weights, grads, states):
        for i, w, g, m in zip(indices, weights, grads, states, strict=True):
            self._update_count(i)
            m[...] = 0.5 * m + g + self._get_wd(i) * w
            w[...] = w - self._get_lr(i) * self.gain * m


class Held(gluon.HybridBlock):
    """A block that reads its state in all the ways that Python has."""

    def __init__(self) -> None:
        super().__init__()
        self.k, self.items, self.table = 2.0, [1.0, 0.5], {"a": 1.0, "b": {"c": 2.0}}
        self.array, self.arrays = np.array([1.0, 2.0]), [np.array(1.0), np.array(3.0)]
        self.numpys, self.chosen = onp.array([1.0, -1.0]), {1, 2}
        self._settings, self.__phase = Settings(1.5), 0

    def advance(self):
        self.__phase = (self.__phase + 1) % 3

    @property
    def settings(self):
        return self._settings

    def forward(self, x):
        k = self.k * self.settings.k * self.settings.scale()
        y = x * k + self.items[0] * x[::-1] + sum(self.items[1:]) + self.__phase
        y = y + self.table["a"] + self.table["b"]["c"] * x
        y = y + self.array * self.arrays[0] + self.arrays[1] + np.array(self.numpys)
        return y * len(self.chosen) if 1 in self.chosen else -y


class Looped(gluon.HybridBlock):
    """A block whose loop counts in an array, beside what has gradients, and carries a state."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = gluon.Parameter("weight", shape=(2,), init="ones")
        self.count, self.rate = np.zeros(2), 0.5

    def forward(self, x, h):
        def body(row, state):
            self.count[...] += row.detach()
            state = state * self.rate + row * self.weight.data() + self.count * 0.01
            return state * 1, state

        outs, last = npx.foreach(body, np.stack([x, x * 2, -x]), h)
        return outs.sum() + (outs * self.count).sum(), last.detach()


class Steep(autograd.Function):
    """Rounding with a derivative that its value does not have."""

    def forward(self, x):
        return np.rint(x)

    def backward(self, d):
        return d * 3


class Rounded(gluon.HybridBlock):
    """A block whose derivative the user defines."""

    def forward(self, x):
        return Steep()(x) * 2


CHANGES = [
    "held.k = {n}",
    "held.advance()",
    "held.items[0] = {n}",
    "held.items.append({n})",
    "held.items.insert(0, {n})",
    "held.table['a'] = {n}",
    "held.table['b']['c'] = {n}",
    "held.array[0] = {n}",
    "held.array = np.array([{n}, 1.0])",
    "held.arrays[0] = np.array({n})",
    "held.numpys[0] = {n}",
    "held.chosen.add({i})",
    "held.chosen.discard(1)",
    "held._settings.k = {n}",
    "held._settings.scale = lambda: {n}",
    "settings.k = {n}",
    "trainer.optimizer.lr_scheduler = lr_scheduler.FactorScheduler(9, 0.5, base_lr={f})",
    "trainer.optimizer.lr_scheduler.base_lr = {f}",
    "trainer.optimizer.lr_scheduler = None",
    "other.weight = net.weight",
    "net.setattr('grad_req', 'null')",
    "net.setattr('grad_req', 'write')",
    "trainer.optimizer.momentum = {f}",
    "trainer.set_learning_rate({f})",
    "trainer.optimizer.wd = {f}",
    "adam.optimizer.beta1 = {f}",
    "adam.optimizer.epsilon = {f}",
    "adam.set_learning_rate({f})",
    "other.collect_params()['weight'].lr_mult = {f}",
    "Gain.level = {n}",
    "levels[0] = {n}",
    "heavy.optimizer.gain = {f}",
    "heavy.optimizer.wd = {f}",
    "third.weight.lr_mult = {f}",
    "third.weight.wd_mult = {f}",
    "looped.rate = {f}",
    "looped.count[...] = {n}",
    "variable[{i} % 2] = {n}",
    "with autograd.record(): variable[0] = variable[1] * {n}",
    "variable[...] = np.array([{n}, 1.0])",
]
CALLS = [
    "results.append(held(x))",
    "results.append(called(x))",
    "step(x)",
    "step_adam(x)",
    "step_heavy(x)",
    "results.append(weighed({{'a': x, 'b': x * {n}}}))",
    "results.append(weighed({{'b': x * {n}, 'a': x}}))",
    "results.append(static(np.arange(3), ({i},)))",
    "results.append(static(np.arange(3), ({i}.0,)))",
    "results.append(net(x.reshape(1, 2)))",
    "results.extend(looping(x))",
    "results.extend(looping(x))",
    "results.append(given(variable))",
    "results.append(given(variable[::-1]))",
    "results.append(given(variable.reshape(2, 1)[:, 0]))",
    "results.append(given(x))",
    "results.append(reading(x * {n}))",
    "results.append(rounding(x * {n}))",
    "results.append(viewing())",
]
# compiled, these read a variable that may have been written while recording
REFUSED = tuple(f"AutogradError by results.append({name}(" for name in ("given", "reading"))


def draft(rng: random.Random) -> list[str]:
    lines = []
    for _ in range(rng.randrange(3, 9)):
        pool = CHANGES if rng.random() < 0.45 else CALLS
        lines.append(
            rng.choice(pool).format(
                n=rng.randrange(1, 9) / 2, i=rng.randrange(4), f=rng.randrange(1, 9) / 10
            )
        )
    call = rng.choice(CALLS[:5])  # nothing is to be filled in
    return [call, *lines, call, "step(x)", "step_adam(x)", "step_heavy(x)"]


def run(lines: list[str], compiled: bool) -> list:
    looped = Looped()
    looped.initialize()
    carried = [np.zeros(2)]
    Gain.level = 1.0
    held, *nets = Held(), *[gluon.nn.Dense(1, in_units=2) for _ in range(3)]
    net, other, third = nets
    for block in nets:
        block.initialize(init.One())
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1, "momentum": 0.9})
    adam = gluon.Trainer(other.collect_params(), "adam", {"learning_rate": 0.1})
    heavy = gluon.Trainer(third.collect_params(), Heavy(learning_rate=0.01))

    def stepping(block, by):
        def step(x):
            with autograd.record():
                loss = (block(x.reshape(1, 2)) ** 2).sum()
            loss.backward()
            by.step(1, ignore_stale_grad=True)

        return step

    def looping(x):
        with autograd.record():
            loss, carried[0] = looped(x, carried[0])
        loss.backward()
        return [loss, looped.weight.grad() * 1, looped.count * 1]

    variable, beside = np.array([1.0, 3.0]), np.ones(1)
    variable.attach_grad()
    beside.attach_grad()
    row = variable[1:]

    def differentiated(y, z):
        variable.zero_grad()
        with autograd.record():
            loss = (beside * y * z).sum()
        loss.backward()

    def squared(y):
        differentiated(y, y)

    def product(y):
        differentiated(y, variable)

    def given(y):
        squared(y)
        return variable.grad * 1

    def reading(y):
        product(y)
        return variable.grad * 1

    rounded = Rounded()

    def rounding(y):
        with autograd.record():
            loss = rounded(third(y.reshape(1, 2))).sum()
        loss.backward()
        return third.weight.grad() * 1

    def viewing():
        with autograd.record():
            loss = (row * 2).sum()
        loss.backward()
        return variable.grad * 1

    settings, levels = Settings(2.0), [1.0]
    level_at = levels.__getitem__
    current_one = weakref.ref(settings)  # no name of a compiled function refers to the settings

    def current():
        return current_one()

    def called(x):
        return Gain()(held(x)) * current().k * level_at(0)

    def weighed(d):
        return sum([v * (i + 1) for i, v in enumerate(d.values())])

    def static(x, k):
        return x * k[0]

    step, step_adam = stepping(net, trainer), stepping(other, adam)
    step_heavy = stepping(third, heavy)
    if compiled:
        held.hybridize()
        looped.hybridize()
        rounded.hybridize()
        squared, product = npx.jit(squared), npx.jit(product)
        called, step, step_adam = npx.jit(called), npx.jit(step), npx.jit(step_adam)
        step_heavy, weighed, static = (
            npx.jit(step_heavy),
            npx.jit(weighed),
            npx.jit(static, static_argnums=1),
        )
    x, results = np.array([1.0, 2.0]), []
    modules = {"np": np, "autograd": autograd, "lr_scheduler": lr_scheduler}
    names = {**locals(), **modules, "Gain": Gain}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for line in lines:
            try:
                exec(line, names)
            except NameError:
                raise
            except Exception as error:  # both ways raise it, or neither
                results.append(f"{type(error).__name__} by {line}")
    found: list[Any] = [
        *results,
        *[p.data() for b in nets for p in b.collect_params().values()],
    ]
    return [a if isinstance(a, str) else onp.asarray(a) for a in found]


def check(lines: list[str]) -> None:
    eager, compiled = run(lines, False), run(lines, True)
    for number, (a, b) in enumerate(zip(eager, compiled, strict=True)):
        texts = isinstance(a, str), isinstance(b, str)
        if texts[0] and " by results." in a:
            raise DisagreementError(f"result {number}: eager {a}")
        if texts == (False, True) and b.startswith(REFUSED):
            return  # what was recorded outside is refused, and the two differ from here on
        same = a == b if all(texts) else not any(texts) and onp.allclose(a, b, 1e-4, 1e-5)
        same = same and (all(texts) or a.dtype == b.dtype)
        if not same:
            raise DisagreementError(f"result {number}: compiled {b}, eager {a}")
