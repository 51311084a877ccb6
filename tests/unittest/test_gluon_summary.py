"""`Block.summary`: shapes, parameters, and operations, those of convolutions and products against
torch's count.
"""

import re

import pytest

from npcompat import autograd, gluon, np, npx
from npcompat.gluon import nn, rnn


def table(block, capsys, *inputs):
    """The rows of a block's table, by layer: shape, parameters and FLOPs; and the last line."""
    with npx.backend("numpy"):
        block.initialize("zeros")
        block.summary(*[np.zeros(shape) for shape in inputs])
    _, _, *rows, _, last = capsys.readouterr().out.splitlines()
    found = [re.fullmatch(r" *(.*?)  +(\(.*\)) +(\d+) +(\S+)", row).groups() for row in rows]
    return {name: (shape, int(parameters), flops) for name, shape, parameters, flops in found}, last


def test_every_parameter_and_every_operation_counts_once(capsys):
    net, dense = nn.HybridSequential(), nn.Dense(3, in_units=3, flatten=False)
    net.add(nn.Dense(3, activation="tanh"), dense, dense, nn.BatchNorm())
    net.hybridize()
    rows, last = table(net, capsys, (2, 4))
    assert rows["Input"] == ("(2, 4)", 0, "0")
    assert (
        rows["0: Dense"] == ("(2, 3)", 15, str(2 * 2 * 3 * 4 + 2 * 3))
        and rows["act: Activation"][2] == "6"
    )
    assert rows["1: Dense"] == ("(2, 3)", 0, "42"), "its parameters were counted the first time"
    total = sum(int(flops) for _, _, flops in rows.values()) + 42
    assert net._active and last.startswith("39 parameters, 33 of them trainable; ")
    assert last.endswith(f"; {total} FLOPs")
    assert not autograd.is_recording() and not net._forward_hooks


def test_convolutions_and_products_are_counted_as_torch_counts_them(capsys):
    torch = pytest.importorskip("torch", reason="compares with torch")
    from torch.utils.flop_counter import FlopCounterMode

    cases = [
        (
            nn.Conv2D(4, (3, 2), 2, 1, groups=2, use_bias=False),
            torch.nn.Conv2d(2, 4, (3, 2), 2, 1, groups=2, bias=False),
            (2, 2, 7, 6),
        ),
        (
            nn.Conv1D(4, 3, dilation=2, layout="NWC", use_bias=False),
            torch.nn.Conv1d(3, 4, 3, dilation=2, bias=False),
            (2, 3, 9),
        ),
        (
            nn.Conv2DTranspose(3, 2, 2, use_bias=False),
            torch.nn.ConvTranspose2d(2, 3, 2, 2, bias=False),
            (1, 2, 3, 4),
        ),
        (nn.Dense(5, use_bias=False, flatten=False), torch.nn.Linear(4, 5, bias=False), (2, 3, 4)),
    ]
    for ours, theirs, shape in cases:
        last_axis = (
            (shape[0], *shape[2:], shape[1]) if getattr(ours, "_layout", "") == "NWC" else shape
        )
        with FlopCounterMode(display=False) as counter:
            theirs(torch.zeros(shape))
        (_, parameters, flops) = table(ours, capsys, last_axis)[0][type(ours).__name__]
        assert (parameters, int(flops)) == (
            sum(p.numel() for p in theirs.parameters()),
            counter.get_total_flops(),
        ), type(ours).__name__


def test_steps_of_recurrent_layers_are_all_counted(capsys):
    def flops(steps):
        return int(table(rnn.GRU(4), capsys, (steps, 2, 5))[0]["GRU"][2])

    assert flops(6) - flops(4) == flops(4) - flops(2) > 2 * 2 * 2 * (12 * 5 + 12 * 4)


def test_what_can_not_be_called_on_symbols_has_no_count(capsys):
    class Branching(gluon.Block):
        def __init__(self):
            super().__init__()
            self.dense = nn.Dense(2)

        def forward(self, x):
            return self.dense(x) if float(x.sum()) == 0 else x

    rows, last = table(Branching(), capsys, (2, 3))
    assert rows["dense: Dense"] == ("(2, 2)", 8, "?") and last.endswith(
        "FLOPs unknown: the block can't be called on symbols"
    )
