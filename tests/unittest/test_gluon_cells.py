"""Recurrent cells: unrolled, combined, and by themselves."""

import pickle

import numpy as onp
import pytest
from recurrent import DATA, LENGTHS, OURS, C, H, N, T, close, random, small

from npcompat import autograd, gluon, init, np, npx
from npcompat.gluon import rnn


def test_one_step_of_a_cell_agrees_with_torch():
    torch = pytest.importorskip("torch", reason="compares with torch")
    for mine, kind, states in (
        (rnn.RNNCell(H), "RNNCell", 1),
        (rnn.LSTMCell(H), "LSTMCell", 2),
        (rnn.GRUCell(H), "GRUCell", 1),
    ):
        small(mine)
        begin = [random.normal(size=(N, H)).astype("float32") for _ in range(states)]
        _, found = mine(np.array(DATA[0]), list(map(np.array, begin)))
        other = getattr(torch.nn, kind)(C, H)
        for name, values in other.named_parameters():
            what, part = name.split("_")
            values.data = torch.tensor(getattr(mine, f"{OURS[part]}_{what}").data().asnumpy())
        expected = other(
            torch.tensor(DATA[0]),
            tuple(map(torch.tensor, begin)) if states == 2 else torch.tensor(begin[0]),
        )
        close(
            [s.asnumpy() for s in found],
            [e.detach().numpy() for e in (expected if states == 2 else [expected])],
        )


def test_unroll_takes_and_gives_lists_and_arrays_in_both_layouts():
    cell = small(rnn.GRUCell(H))
    steps = [np.array(step) for step in DATA]
    outputs, (last,) = cell.unroll(T, steps)
    assert isinstance(outputs, list) and len(outputs) == T
    onp.testing.assert_array_equal(outputs[-1].asnumpy(), last.asnumpy())
    expected = onp.stack([o.asnumpy() for o in outputs])
    merged, _ = cell.unroll(None, np.array(DATA), layout="TNC", merge_outputs=True)
    onp.testing.assert_allclose(merged.asnumpy(), expected, rtol=1e-6)
    merged, _ = cell.unroll(T, np.array(DATA.swapaxes(0, 1)), merge_outputs=True)
    onp.testing.assert_allclose(merged.asnumpy(), expected.swapaxes(0, 1), rtol=1e-6)
    masked, (last,) = cell.unroll(T, steps, valid_length=LENGTHS, layout="TNC")
    assert (
        masked.shape == (T, N, H)
        and (masked.asnumpy()[2:, 0] == 0).all()
        and (last.asnumpy()[2] == 0).all()
    )
    onp.testing.assert_allclose(last.asnumpy()[0], expected[1, 0], rtol=1e-6)


def test_states_begin_as_asked_for():
    cell = rnn.LSTMCell(2)
    assert [s.tolist() for s in cell.begin_state(1, np.ones)] == [[[1, 1]]] * 2
    stack = rnn.SequentialRNNCell()
    stack.add(rnn.LSTMCell(2), rnn.DropoutCell(0.5), rnn.ResidualCell(rnn.GRUCell(2)))
    assert (
        [i["shape"] for i in stack.state_info(3)] == [(3, 2)] * 3
        and len(stack) == 3
        and isinstance(stack[1], rnn.DropoutCell)
    )
    assert stack.begin_state(3, dtype="float16")[2].dtype == "float16"
    with pytest.raises(ValueError, match="SequentialRNNCell: states: expected a list of 3, got 1"):
        small(stack)(np.zeros((1, 2)), cell.begin_state(1)[:1])
    with pytest.raises(TypeError, match="expected a RecurrentCell, got Dense"):
        stack.add(gluon.nn.Dense(2))
    half = small(rnn.GRUCell(2))
    half.cast("float16")
    assert half.unroll(2, np.ones((1, 2, 3), dtype="float16"))[0][0].dtype == "float16"


def test_cells_take_other_activations():
    cell = small(rnn.RNNCell(H, activation=lambda x: x))
    out, _ = cell(np.array(DATA[0]), cell.begin_state(N))
    onp.testing.assert_allclose(
        out.asnumpy(), DATA[0] @ cell.i2h_weight.data().asnumpy().T, rtol=1e-4, atol=1e-5
    )
    leaky = small(
        rnn.LSTMCell(H, activation=gluon.nn.LeakyReLU(0.1), recurrent_activation="softsign")
    )
    assert leaky(np.array(DATA[0]), leaky.begin_state(N))[0].shape == (N, H)


def test_a_bidirectional_cell_has_no_step():
    cell = rnn.BidirectionalCell(rnn.GRUCell(2), rnn.GRUCell(2))
    with pytest.raises(NotImplementedError, match="use unroll"):
        cell(np.ones((1, 2)), cell.begin_state(1))
    with pytest.raises(TypeError, match="reads backwards"):
        rnn.ZoneoutCell(cell)
    with pytest.raises(TypeError, match="reads backwards"):
        rnn.VariationalDropoutCell(cell, drop_states=0.5)
    with pytest.raises(TypeError, match="expected a RecurrentCell, got Dense"):
        rnn.ResidualCell(gluon.nn.Dense(2))


def test_residual_cells_add_what_is_inside_the_sequence():
    cell = rnn.ResidualCell(rnn.BidirectionalCell(rnn.GRUCell(2), rnn.GRUCell(3)))
    cell.initialize(init.Zero())
    out, _ = cell.unroll(T, np.array(DATA), layout="TNC", valid_length=LENGTHS)
    onp.testing.assert_array_equal(
        out.asnumpy(), onp.where(onp.arange(T)[:, None, None] < LENGTHS[:, None], DATA, 0)
    )


def everywhere(cell, training=True, **tolerances):
    """Outputs and the last state of an unrolled cell: eager, hybridized, and compiled whole."""
    results = []
    x = np.array(DATA)

    def unrolled(x):
        out, states = cell.unroll(T, x, layout="TNC", merge_outputs=True)
        return [out, states[0]]

    for how in ("eager", "hybridized", "compiled"):
        cell.hybridize(how == "hybridized")
        np.random.seed(11)
        with autograd.train_mode() if training else autograd.predict_mode():
            results.append(
                [r.asnumpy() for r in (npx.jit(unrolled) if how == "compiled" else unrolled)(x)]
            )
    close(results[1], results[0], **tolerances)
    close(results[2], results[0], **tolerances)
    return results[0]


def test_zoneout_keeps_numbers_of_the_step_before():
    cell = small(rnn.ZoneoutCell(rnn.RNNCell(40), zoneout_outputs=0.5))
    out, _ = everywhere(cell)
    before = onp.concatenate([onp.zeros((1, N, 40)), out[:-1]])
    assert 0.4 < (out == before).mean() < 0.6
    calm, _ = everywhere(cell, training=False)
    assert (calm[1:] == calm[:-1]).mean() < 0.01
    states = small(rnn.ZoneoutCell(rnn.RNNCell(40), zoneout_states=1.0))
    assert (everywhere(states)[1] == 0).all(), "the state stays what it was"


def test_variational_dropout_draws_one_mask_for_all_steps():
    cell = small(
        rnn.VariationalDropoutCell(rnn.RNNCell(40, activation=lambda x: x + 10), drop_outputs=0.5)
    )
    out, _ = everywhere(cell, atol=1e-4)  # of numbers above 100
    assert ((out == 0) == (out[:1] == 0)).all() and 0.3 < (out == 0).mean() < 0.7
    states = small(rnn.VariationalDropoutCell(rnn.LSTMCell(H), 0.3, 0.3, 0.3))
    everywhere(states)
    with autograd.train_mode():
        first, again = (
            states.unroll(T, np.array(DATA), layout="TNC", merge_outputs=True)[0].asnumpy()
            for _ in range(2)
        )
    assert not onp.allclose(first, again), "each sequence draws its own"


def test_cells_that_keep_arrays_between_steps_refuse_to_enter_a_compiled_function():
    cell = small(rnn.ZoneoutCell(rnn.RNNCell(C), 0.5))
    x = np.array(DATA[0])
    with autograd.train_mode():
        _, states = cell(x, cell.begin_state(N))
        with pytest.raises(RuntimeError, match="ZoneoutCell keeps arrays between steps"):
            npx.jit(lambda x: cell(x, states)[0])(x)
    assert npx.jit(lambda x: cell(x, states)[0])(x).shape == (N, C), "in prediction nothing is kept"
    assert pickle.loads(pickle.dumps(cell))(x, states)[0].shape == (N, C)


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
def test_convolutional_cells_on_one_point_are_dense_cells(kind):
    conv = small(getattr(rnn, f"Conv2D{kind}Cell")((C, 1, 1), H, 1, 1))
    dense = getattr(rnn, f"{kind}Cell")(H, input_size=C)
    dense.initialize()
    for name, parameter in dense.params.items():
        parameter.set_data(conv.params[name].data().reshape(parameter.shape))
    found, _ = conv.unroll(T, np.array(DATA[..., None, None]), layout="TNC", merge_outputs=True)
    expected, _ = dense.unroll(T, np.array(DATA), layout="TNC", merge_outputs=True)
    onp.testing.assert_allclose(
        found.asnumpy()[..., 0, 0], expected.asnumpy(), rtol=1e-4, atol=1e-5
    )


def test_convolutional_cells_in_all_dimensions_and_layouts():
    for cell, shape in (
        (rnn.Conv1DGRUCell((5, 2), 3, 3, 3, i2h_pad=1, conv_layout="NWC"), (1, 5, 3)),
        (
            rnn.Conv2DLSTMCell((2, 5, 4), 3, (3, 2), (3, 5), i2h_dilate=2, h2h_dilate=(1, 2)),
            (1, 3, 1, 2),
        ),
        (rnn.Conv3DRNNCell((2, 3, 3, 3), 3, 2, 1, activation="relu"), (1, 3, 2, 2, 2)),
    ):
        dims = {
            "Conv1DGRUCell": (1, 5, 2),
            "Conv2DLSTMCell": (1, 2, 5, 4),
            "Conv3DRNNCell": (1, 2, 3, 3, 3),
        }[type(cell).__name__]
        with npx.backend("numpy"):
            out, states = small(cell)(np.ones(dims), cell.begin_state(1))
        assert out.shape == shape == cell.state_info(1)[0]["shape"] and states[0].shape == shape
    assert (
        repr(rnn.Conv1DGRUCell((5, 2), 3, 3, 3, conv_layout="NWC")) == "Conv1DGRUCell(2 -> 3, NWC)"
    )


def test_a_cell_of_ones_own_in_mxnets_older_form_is_unrolled_like_the_others():
    class Sum(rnn.HybridRecurrentCell):
        def state_info(self, batch_size=0):
            return [{"shape": (batch_size, C), "__layout__": "NC"}]

        def hybrid_forward(self, F, inputs, states):
            total = F.relu(inputs) + states[0]
            return total, [total]

    cell = Sum()
    cell.hybridize()
    out, _ = cell.unroll(T, np.array(DATA), layout="TNC", merge_outputs=True)
    onp.testing.assert_allclose(out.asnumpy(), onp.cumsum(onp.maximum(DATA, 0), 0), rtol=1e-5)
    with pytest.raises(NotImplementedError, match="must define state_info"):
        rnn.RecurrentCell().begin_state(1)


def test_the_vector_of_parameters_is_initialized_part_by_part():
    options = {
        "h2h_weight_initializer": init.Constant(2.0),
        "i2h_bias_initializer": init.LSTMBias(3.0),
        "h2r_weight_initializer": "ones",
    }
    fused = init.RNNFused("lstm", 2, H, True, 2, **options)
    again = init.create(fused.dumps())
    layer = rnn.LSTM(H, 2, bidirectional=True, projection_size=2, input_size=C, **options)
    layer.initialize()
    expected = {name: p.data().asnumpy() for name, p in layer.params.items()}
    for initializer in (fused, again):
        vector = gluon.Parameter("parameters", shape=(sum(a.size for a in expected.values()),))
        vector.initialize(initializer)
        begin = 0
        for name, array in expected.items():
            found = vector.data().asnumpy()[begin : begin + array.size].reshape(array.shape)
            begin += array.size
            if "i2h_weight" in name:
                assert 0 < abs(found).max() <= 0.07, name
            else:
                onp.testing.assert_array_equal(found, array, name)
    with pytest.raises(ValueError, match="7 parameters do not fit .* expected"):
        fused("parameters", np.zeros(7))
    with pytest.raises(ValueError, match="must be the vector of all parameters"):
        fused("parameters", np.zeros((7, 2)))
    with pytest.raises(ValueError, match="RNNFused: mode must be one of"):
        init.RNNFused("lstmp", 1, 2)
