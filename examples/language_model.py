"""Language model: a recurrent network learns to write, trained in three modes that must agree.

The text is the language reference that ships with every Python (`pydoc_data.topics`, as shown by
`help("for")`). The network reads it letter by letter in 32 places at once, and carries its states
from one piece to the next. It is trained eagerly, hybridized, and with the whole step (record,
backward, clipping, trainer.step) compiled into one program. Prints a sentence, and a table;
`--plot` plots the loss curves to a file. Exits with 1 if the three disagree.
"""

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pydoc_data.topics import topics
from typing import Any

import numpy as onp
from curves import curves_file, draw
from rich.console import Console
from rich.table import Table
from tqdm import tqdm

from npcompat import autograd, gluon, initializer, np, npx
from npcompat.gluon import nn, rnn

MODES = ("eager", "hybridized", "compiled step")
BATCH, STEPS = 32, 32
LAYERS: dict[str, Callable[..., Any]] = {"lstm": rnn.LSTM, "gru": rnn.GRU}


class LanguageModel(gluon.HybridBlock):
    """Language model: scores of the next letter, for each letter of a batch, and last states."""

    def __init__(self, kind: str, letters: int, hidden: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(letters, 32)
        self.recurrent = LAYERS[kind](hidden, input_size=32)
        self.scores = nn.Dense(letters, flatten=False, in_units=hidden)

    def forward(self, letters: Any, states: list[Any]) -> tuple[Any, list[Any]]:
        outputs, states = self.recurrent(self.embedding(letters), states)
        return self.scores(outputs), states


@dataclass
class Text:
    """Letters as numbers, for training and for validation, in columns that are read in parallel."""

    alphabet: list[str]
    train: Any
    valid: Any

    @classmethod
    def of_python(cls, size: int) -> "Text":
        """Return the first letters of Python's language reference; a tenth is for validation."""
        text = "\n\n".join(topics[name] for name in sorted(topics))[:size]
        alphabet = sorted(set(text))
        numbers = onp.array([alphabet.index(letter) for letter in text])
        border = len(numbers) * 9 // 10
        train, valid = (
            part[: len(part) // BATCH * BATCH].reshape(BATCH, -1).T
            for part in (numbers[:border], numbers[border:])
        )
        return cls(alphabet, train, valid)


def pieces(columns: Any) -> Iterator[tuple[Any, Any]]:
    """Iterate over pieces of the columns, each with the letters that follow."""
    for begin in range(0, len(columns) - STEPS, STEPS):
        yield (
            np.array(columns[begin : begin + STEPS]),
            np.array(columns[begin + 1 : begin + STEPS + 1]),
        )


@dataclass
class Outcome:
    """Results of one training; losses of epochs, and of all their steps."""

    losses: list[float] = field(default_factory=list)
    steps: list[float] = field(default_factory=list)
    perplexity: float = 0.0
    milliseconds: float = 0.0
    programs: int = 0
    sentence: str = ""


def train_one(options: argparse.Namespace, text: Text, mode: str, bar: Any) -> Outcome:
    """Train from the same initial state and on the same pieces as the other modes."""
    np.random.seed(7)
    net = LanguageModel(options.kind, len(text.alphabet), options.hidden)
    net.initialize(initializer.Xavier())
    if mode != "eager":
        net.hybridize()
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.01})
    parameters = [p for p in net.collect_params().values() if p.grad_req != "null"]

    def step(x: Any, y: Any, states: list[Any]) -> tuple[Any, list[Any]]:
        with autograd.record():
            scores, states = net(x, states)
            loss = loss_of(scores, y).mean()
        loss.backward()
        gluon.utils.clip_global_norm([p.grad() for p in parameters], 1.0, check_isfinite=False)
        trainer.step(1)
        return loss, [state.detach() for state in states]

    run = npx.jit(step) if mode == "compiled step" else step
    outcome, times = Outcome(), []
    with npx.compile_log() as log:
        for _ in range(options.epochs):
            losses, states = [], net.recurrent.begin_state(BATCH)
            for x, y in pieces(text.train):
                start = time.perf_counter()
                loss, states = run(x, y, states)
                losses.append(float(loss))
                times.append(time.perf_counter() - start)
                bar.set_postfix(loss=f"{losses[-1]:.3f}", refresh=False)
                bar.update()
            outcome.losses.append(sum(losses) / len(losses))
            outcome.steps += losses
    outcome.programs = len(log)
    outcome.milliseconds = sorted(times)[len(times) // 2] * 1e3
    outcome.perplexity = perplexity(net, text)
    outcome.sentence = written(net, text, options.letters)
    return outcome


def perplexity(net: LanguageModel, text: Text) -> float:
    """Return the perplexity of validation text."""
    metric, states = gluon.metric.Perplexity(from_logits=True), net.recurrent.begin_state(BATCH)
    for x, y in pieces(text.valid):
        scores, states = net(x, states)
        metric.update(y, scores)
    return float(metric.get()[1])


def written(net: LanguageModel, text: Text, count: int) -> str:
    """Return text of the network, whose letters are sampled with their probabilities."""
    np.random.seed(0)
    letter, states, found = (
        np.array([[text.alphabet.index("T")]]),
        net.recurrent.begin_state(1),
        ["T"],
    )
    next_letter = npx.jit(lambda letter, states: net(letter, states))
    for _ in range(count - 1):
        scores, states = next_letter(letter, states)
        probabilities = npx.softmax(scores[0, 0] * 1.5).astype("float64")
        letter = np.random.choice(
            len(text.alphabet), size=(1, 1), p=probabilities / probabilities.sum()
        )
        found.append(text.alphabet[int(letter[0, 0])])
    return "".join(found)


def disagreements(outcomes: dict[str, Outcome], tolerance: float) -> Iterator[str]:
    """Iterate over losses and perplexities that differ between modes by a relative tolerance."""
    reference = outcomes[MODES[0]]
    for mode in MODES[1:]:
        found = outcomes[mode]
        named = [
            (f"epoch {i + 1}: loss", *pair)
            for i, pair in enumerate(zip(reference.losses, found.losses, strict=True))
        ]
        for what, expected, got in [*named, ("perplexity", reference.perplexity, found.perplexity)]:
            if not abs(got - expected) <= tolerance * abs(expected):
                yield f"{what}: {mode} has {got:.7f}, {MODES[0]} has {expected:.7f}"


def main() -> int:
    """Train, print the table, and compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--kind", choices=(*LAYERS,), default="lstm", help="the recurrent layer (default: lstm)"
    )
    parser.add_argument("--epochs", type=int, default=2, help="passes over the text (default: 2)")
    parser.add_argument("--size", type=int, default=60_000, help="letters of text (default: 60000)")
    parser.add_argument("--hidden", type=int, default=96, help="size of the states (default: 96)")
    parser.add_argument(
        "--letters", type=int, default=100, help="letters to write at the end (default: 100)"
    )
    parser.add_argument(
        "--device", default="cpu", help="where to train: cpu, gpu or gpu(1) (default: cpu)"
    )
    parser.add_argument(
        "--plot", type=curves_file, metavar="FILE", help="a PNG file for the curves"
    )
    parser.add_argument(
        "--tolerance",
        type=float,
        default=1e-3,
        help="allowed relative difference of losses (default: 1e-3)",
    )
    options = parser.parse_args()
    if min(options.epochs, options.hidden, options.letters) < 1:
        parser.error("--epochs, --hidden and --letters must be at least 1")
    if options.size < 20 * BATCH * STEPS:
        parser.error(f"--size must be at least {20 * BATCH * STEPS}")

    console = Console()
    text = Text.of_python(options.size)
    table = Table(
        title=f"{options.kind} of {options.hidden}, {options.epochs} epochs over "
        f"{len(text.train) * BATCH} letters"
    )
    for column in ("mode", "loss", "perplexity", "time per step", "programs"):
        table.add_column(column, justify="left" if column == "mode" else "right")
    outcomes = {}
    with npx.device(options.device):
        for mode in MODES:
            with tqdm(
                desc=f"{mode:13}", total=options.epochs * len(list(pieces(text.train))), unit="step"
            ) as bar:
                found = outcomes[mode] = train_one(options, text, mode, bar)
            table.add_row(
                mode,
                f"{found.losses[-1]:.5f}",
                f"{found.perplexity:.4f}",
                f"{found.milliseconds:.1f} ms",
                str(found.programs),
            )
    console.print(f"writes: {outcomes[MODES[-1]].sentence!r}", markup=False, highlight=False)
    console.print(table)
    console.print(
        "(a network that knows only how frequent each letter is has perplexity "
        f"{frequencies(text):.1f})"
    )
    if options.plot is not None:
        draw(
            options.plot, {"loss": {mode: found.steps for mode, found in outcomes.items()}}, "step"
        )
    problems = list(disagreements(outcomes, options.tolerance))
    for problem in problems:
        console.print(f"[red]{problem}")
    console.print("the modes disagree" if problems else "all modes agree at every epoch")
    return int(bool(problems))


def frequencies(text: Text) -> float:
    """Return the perplexity of the letters' frequencies."""
    counts = onp.bincount(text.train.ravel(), minlength=len(text.alphabet)) + 1
    return math.exp(-onp.log(counts / counts.sum())[text.valid.ravel()].mean())


if __name__ == "__main__":
    sys.exit(main())
