"""Random functions that bind arrays anew in branches and loops, and write them, as source."""

import random


class Aliases:
    """One random function of an array and a number, from a seed; its arrays may have several names."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.loops = 0
        self.lines = ["def f(p, i):", f"    q = {self.random.choice(('p', 'p * 2', 'p.copy()'))}"]
        self.lines.append(f"    r = {self.random.choice(('p', 'q', 'p + q'))}")
        self.lines.append(f"    v = {self.view()}")
        pair = f"({self.random.choice('pqr')}, {self.random.choice('pqr')})"
        self.lines.append(f"    t = u = {self.random.choice(('', '', 'Pair'))}{pair}")
        self.block(1, self.random.randint(3, 5))
        self.lines.append("    return p.sum(), q.sum(), r.sum(), v.sum(), t[0].sum(), u[1].sum()")
        self.text = "\n".join(self.lines) + "\n"

    def add(self, indent, line):
        self.lines.append("    " * indent + line)

    def block(self, indent, count):
        for _ in range(count):
            self.statement(indent)

    def new(self):
        x, y = self.random.choice("pqr"), self.random.choice("pqr")
        return self.random.choice((f"{x} + 1", f"{x} * {y}", f"{x}.copy()", f"{x} - {y} / 2"))

    def view(self):
        return self.random.choice("pqr") + self.random.choice(("[1:]", "[::-1]", "[:2]", ""))

    def condition(self):
        k = "k" if self.loops and self.random.random() < 0.3 else self.random.randint(0, 4)
        return f"i > {k}"

    def statement(self, indent):
        x = self.random.choice("pqr")
        kind = self.random.randint(0, 15)
        if kind <= 2:
            value = self.random.choice("123")
            change = self.random.choice(("+= 1", f"[0] = {value}", "*= 2", f"[1:] -= {value}"))
            self.add(indent, f"{x} {change}" if change[0] != "[" else x + change)
        elif kind == 3:
            self.add(indent, f"{x} = {self.random.choice((*'pqr', self.new()))}")
        elif kind <= 7 and indent < 4:
            self.branch(indent, x)
        elif kind >= 12:
            self.add(indent, self.container(x))
        elif kind == 8:
            change = self.random.choice((f"v = {self.view()}", "v += 1", "v[0] = 4", "v[-1] = 5"))
            self.add(indent, change)
        elif indent < 3 and not self.loops:
            self.loops += 1
            self.add(indent, f"for k in range({self.random.choice((2, 3, 20))}):")
            self.block(indent + 1, self.random.randint(1, 2))
            self.loops -= 1
        else:
            self.add(indent, f"{x} = {self.new()}")

    def container(self, x):
        """Return a statement with a tuple or a list of arrays, or a function that returns one."""
        y = self.random.choice("pqr")
        return self.random.choice(
            (
                *(f"t = ({x}, {y})", f"t = ({self.new()}, {y})", "t = (t[1], t[0])"),
                *("t = (t[0] * 0.5, t[1])", "t = [t[0], t[1] + 1]", "t = Pair(t[0], t[1] * 2)"),
                *(f"t = [{x}, {y}]", f"t = Pair({y}, t[0])", "t = [t[1], t[0] - 1]", "u = t"),
                *(f"{x} = t[0]", f"{x}, {y} = t", "t[0][0] = 6", "t[1][:] = t[1] * 2"),
                *(f"{x} = [{y}, p][0]", f"{x} = (lambda: {y})()", f"v = t[0] if i > 2 else {y}"),
                *(f"{x} = {y} if i > 1 else {self.new()}", f"{x} = {y}[:]"),
                *(f"{x} = {y}.reshape(-1)", f"{x} = max({y}, t[1], key=lambda z: i)"),
            )
        )

    def branch(self, indent, x):
        word = "if"
        for _ in range(self.random.randint(1, 2)):
            self.add(indent, f"{word} {self.condition()}:")
            chance = self.random.random()
            if chance < 0.5:
                self.add(indent + 1, f"{x} = {self.new()}")
            elif chance < 0.8:
                y = self.random.choice("pqr")
                both = f"{x} = {y} = {self.new()}"
                swap = f"{x}, {y} = {y}, {x}"
                change = self.random.choice((f"{x} = {y}", swap, both, f"{x} = {y}[::-1]"))
                self.add(indent + 1, change)
            else:
                self.block(indent + 1, 1)
            word = "elif"
        if self.random.random() < 0.3:
            self.add(indent, "else:")
            self.block(indent + 1, 1)
