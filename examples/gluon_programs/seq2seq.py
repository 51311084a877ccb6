"""Sequence-to-sequence network with attention (Bahdanau et al., 2015), which reverses words.

Sequences of a batch have different lengths: the encoder stops at the end of each, and attention and
loss ignore padding.
"""

from itertools import islice
from typing import Any

import numpy as onp

from examples.gluon_programs.modes import Outcome, forever
from npcompat import autograd, gluon, init, np, npx
from npcompat.gluon import nn, rnn
from npcompat.gluon.data import batchify

SCORE = "letters right"
STEPS = 150
PAD, BEGIN, END, FIRST, LETTERS = 0, 1, 2, 3, 12
LONGEST, HIDDEN = 6, 48


def words(count: int, seed: int) -> gluon.data.SimpleDataset:
    """Return random words, and each reversed, with an end mark."""
    random = onp.random.RandomState(seed)
    found = [
        random.randint(FIRST, FIRST + LETTERS, random.randint(2, LONGEST)) for _ in range(count)
    ]
    ends = onp.array([END])
    return gluon.data.SimpleDataset(
        [(onp.append(w, ends), onp.append(w[::-1], ends), len(w) + 1) for w in found]
    )


def batches(dataset: gluon.data.SimpleDataset, size: int, shuffle: bool) -> gluon.data.DataLoader:
    """Return a loader of padded words, padded answers, and their lengths."""
    pad = batchify.Pad(val=PAD, round_to=LONGEST)
    return gluon.data.DataLoader(
        dataset,
        size,
        shuffle=shuffle,
        last_batch="discard",
        batchify_fn=batchify.Group(pad, pad, batchify.Stack()),
    )


class Encoder(gluon.HybridBlock):
    """Encoder: one output for each letter of a word, (batch, time, hidden), and the last state."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(FIRST + LETTERS, HIDDEN)
        self.rnn = rnn.GRU(HIDDEN, use_sequence_length=True)

    def forward(self, x: Any, valid_len: Any) -> tuple[Any, Any]:
        states = self.rnn.begin_state(x.shape[0])
        outputs, (state,) = self.rnn(self.embedding(x.T), states, sequence_length=valid_len)
        return outputs.swapaxes(0, 1), state[0]


class AdditiveAttention(gluon.HybridBlock):
    """Additive attention: the mean of the outputs, weighted by their match with a query.

    Padding has no weight.
    """

    def __init__(self) -> None:
        super().__init__()
        self.key = nn.Dense(HIDDEN, use_bias=False, flatten=False)
        self.query = nn.Dense(HIDDEN, use_bias=False, flatten=False)
        self.score = nn.Dense(1, use_bias=False, flatten=False)
        self.dropout = nn.Dropout(0.1)

    def forward(self, query: Any, outputs: Any, valid_len: Any) -> Any:
        features = np.tanh(self.query(np.expand_dims(query, 1)) + self.key(outputs))
        scores = self.score(features).squeeze(-1)
        seen = np.arange(scores.shape[1]) < np.expand_dims(valid_len, 1)
        weights = self.dropout(npx.masked_softmax(scores, seen))
        return npx.batch_dot(np.expand_dims(weights, 1), outputs).squeeze(1)


class Decoder(gluon.HybridBlock):
    """Decoder: scores of the next letter after each given letter, and the last state."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(FIRST + LETTERS, HIDDEN)
        self.attention = AdditiveAttention()
        self.cell = rnn.GRUCell(HIDDEN)
        self.dense = nn.Dense(FIRST + LETTERS, flatten=False)

    def forward(self, x: Any, state: Any, outputs: Any, valid_len: Any) -> tuple[Any, Any]:
        def following(letter: Any, states: list[Any]) -> tuple[Any, list[Any]]:
            context = self.attention(states[0], outputs, valid_len)
            return self.cell(np.concatenate([context, letter], axis=-1), states)

        found, (state,) = npx.foreach(following, self.embedding(x.T), [state])
        return self.dense(found.swapaxes(0, 1)), state


class EncoderDecoder(gluon.HybridBlock):
    """Encoder and decoder: scores of each letter of the answer, given the right previous ones."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder, self.decoder = Encoder(), Decoder()

    def forward(self, x: Any, answer: Any, valid_len: Any) -> Any:
        outputs, state = self.encoder(x, valid_len)
        before = np.concatenate([np.full((x.shape[0], 1), BEGIN), answer[:, :-1]], axis=1)
        scores, _ = self.decoder(before, state, outputs, valid_len)
        return scores


class MaskedSoftmaxCELoss(gluon.loss.SoftmaxCELoss):
    """Cross-entropy of the letters up to the end of each word."""

    def forward(self, pred: Any, label: Any, valid_len: Any) -> Any:
        weights = npx.sequence_mask(np.ones_like(label, dtype="float32"), valid_len, True, axis=1)
        return super().forward(pred, label, np.expand_dims(weights, -1))


def train(mode: str, steps: int) -> Outcome:
    """Train with teacher forcing; the score is that of greedily decoded answers."""
    np.random.seed(3)
    net = EncoderDecoder()
    net.initialize(init.Xavier())
    if mode != "eager":
        net.hybridize()
    loss_fn = MaskedSoftmaxCELoss()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.01})

    def step(x: Any, y: Any, valid_len: Any) -> Any:
        with autograd.record():
            loss = loss_fn(net(x, y, valid_len), y, valid_len).mean()
        loss.backward()
        grads = [p.grad() for p in net.collect_params().values()]
        gluon.utils.clip_global_norm(grads, 1.0, check_isfinite=False)
        trainer.step(1)
        return loss

    run = npx.jit(step) if mode == "compiled step" else step
    loader = batches(words(512, seed=0), 32, shuffle=True)
    losses = [run(*batch).item() for batch in islice(forever(lambda: loader), steps)]

    ((x, y, valid_len),) = batches(words(64, seed=1), 64, shuffle=False)
    answers = translated(net, x, valid_len)
    real = np.arange(y.shape[1]) < np.expand_dims(valid_len, 1)
    right = ((answers == y) & real).sum() / real.sum()
    return Outcome.of(losses, {name: p.data() for name, p in net.collect_params().items()}, right)


def translated(net: EncoderDecoder, x: Any, valid_len: Any) -> Any:
    """Return greedily decoded answers: each letter is the most probable one."""
    outputs, state = net.encoder(x, valid_len)
    letter, found = np.full((len(x), 1), BEGIN), []
    for _ in range(x.shape[1]):
        scores, state = net.decoder(letter, state, outputs, valid_len)
        letter = scores.argmax(axis=-1)
        found.append(letter)
    return np.concatenate(found, axis=1)
