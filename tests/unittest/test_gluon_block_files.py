"""Files of parameters: written atomically, refused with all differences."""

import os

import numpy as onp
import pytest
from internals import ParameterFileError
from networks import network

from npcompat import init, np
from npcompat.gluon import nn


def test_parameters_survive_a_file(tmp_path, backend):
    net, twin, path = network(), network(), tmp_path / "net.params"
    net.initialize(init.Normal(0.5))
    x = np.random.normal(size=(2, 1, 8, 8))
    y = net(x)
    net.save_parameters(path)
    twin.load_parameters(path)
    onp.testing.assert_array_equal(twin(x).asnumpy(), y.asnumpy())
    twin.initialize(force_reinit=True)
    twin.hybridize()
    assert not (twin(x) == y).all()
    twin.load_parameters(str(path))
    onp.testing.assert_allclose(twin(x).asnumpy(), y.asnumpy(), rtol=1e-5, atol=1e-6)
    assert os.listdir(tmp_path) == ["net.params"], "no temporary file is left"


def test_a_file_that_does_not_fit_is_refused_with_all_differences(tmp_path):
    path = tmp_path / "net.params"
    saved = nn.HybridSequential()
    saved.add(nn.Dense(2, in_units=3), nn.Dense(2, in_units=2), nn.LayerNorm(in_channels=2))
    saved.initialize()
    saved[1].cast("float16")
    saved.save_parameters(path)
    net = nn.HybridSequential()
    net.add(nn.Dense(2, in_units=4), nn.Dense(2, in_units=2), nn.Dense(1, in_units=1))
    net.initialize(init.One())
    with pytest.raises(
        ValueError, match="do not fit HybridSequential; nothing was loaded"
    ) as caught:
        net.load_parameters(path)
    assert str(caught.value).splitlines()[1:] == [
        "  2.weight: a parameter of the block, missing there",
        "  2.bias: a parameter of the block, missing there",
        "  2.beta: not a parameter of the block",
        "  2.gamma: not a parameter of the block",
        "  0.weight: has shape (2, 3) there, (2, 4) in the block",
        "  1.weight: has dtype float16 there, float32 in the block (cast_dtype=True casts)",
        "  1.bias: has dtype float16 there, float32 in the block (cast_dtype=True casts)",
    ]
    assert (net[1].weight.data() == 1).all() and (net[0].bias.data() == 0).all()


def test_a_truncated_file_is_refused_and_changes_nothing(tmp_path):
    path = tmp_path / "net.params"
    net = nn.Dense(8, in_units=8)
    net.initialize(init.One())
    net.save_parameters(path)
    whole = path.read_bytes()
    net.weight.data()[...] = 2
    end = len(whole)
    for damaged, words in [
        (
            whole[:-1],
            f"net.params: not a whole safetensors file .*: it ends at byte {end - 1}, within 'weight', and should end at {end}",
        ),
        (whole[:-260], f"it ends at byte {end - 260}, within 'bias', and should end at {end}"),
        (whole[:20], "it ends at byte 20, before its header does"),
        (b"", "not a whole safetensors file .* of another format$"),
        (b"something else altogether", "not a whole safetensors file .* of another format$"),
        (whole[:8] + b"[" + whole[9:], "not a whole safetensors file .* of another format$"),
    ]:
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=words):
            net.load_parameters(path)
    assert (net.weight.data() == 2).all()


def test_an_interrupted_save_leaves_the_older_file(tmp_path, monkeypatch):
    path = tmp_path / "net.params"
    net = nn.Dense(2, in_units=2)
    net.initialize()
    net.save_parameters(path)
    before = path.read_bytes()

    def fail(*_):
        raise OSError("the disk is full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="the disk is full"):
        net.save_parameters(path)
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["net.params"]


def test_options_of_loading(tmp_path):
    path = tmp_path / "net.params"
    one = nn.Dense(2, in_units=2)
    one.initialize(init.One())
    one.save_parameters(path)
    two = nn.HybridSequential()
    two.add(nn.Dense(1))
    two.load_parameters(path, allow_missing=True, ignore_extra=True)
    half = nn.Dense(2, in_units=2, dtype="float16")
    half.load_parameters(path, cast_dtype=True)
    assert half.weight.data().dtype == "float16"
    half.load_parameters(path, cast_dtype=True, dtype_source="saved")
    assert half.weight.data().dtype == "float32" and half.weight.dtype == "float32"
    one.load_dict({"weight": np.zeros((2, 2)), "bias": one.bias})
    assert (one.weight.data() == 0).all()
    with pytest.raises(ValueError, match="dtype_source must be"):
        one.load_parameters(path, dtype_source="mine")
    with pytest.raises(FileNotFoundError):
        one.load_parameters(tmp_path / "nothing")


def test_shared_parameters_are_saved_once_if_asked(tmp_path):
    path = tmp_path / "net.params"

    def tied():
        net = nn.HybridSequential()
        net.add(nn.Dense(2, in_units=2), nn.Dense(2, in_units=2))
        net[1].weight = net[0].weight
        return net

    net = tied()
    net.initialize()
    net.save_parameters(path, deduplicate=True)
    twin = tied()
    twin.load_parameters(path)
    onp.testing.assert_array_equal(twin[1].weight.data().asnumpy(), net[0].weight.data().asnumpy())


def test_low_precision_parameters_survive_a_file(tmp_path):
    net = nn.Dense(2, in_units=2, dtype="bfloat16")
    net.initialize()
    net.save_parameters(tmp_path / "p")
    twin = nn.Dense(2, in_units=2, dtype="bfloat16")
    twin.load_parameters(tmp_path / "p")
    assert (
        twin.weight.data().dtype == net.weight.data().dtype
        and (twin.weight.data() == net.weight.data()).all()
    )


def test_a_model_is_saved_and_loaded_into_one_that_is_made_alike(tmp_path):
    def made(*layers):
        net = nn.HybridSequential()
        net.add(*layers)
        net.initialize()
        return net

    net = made(nn.Dense(2, in_units=3), nn.BatchNorm(in_channels=2))
    net.save(tmp_path / "net")
    same = made(nn.Dense(2, in_units=3), nn.BatchNorm(in_channels=2))
    same.load(tmp_path / "net")
    x = np.ones((2, 3))
    assert (same(x) == net(x)).all()
    for other, message in (
        (made(nn.Dense(2, in_units=3)), r"HybridSequential: children 0, 1 there, 0 here"),
        (
            made(nn.Dense(2, in_units=3), nn.LayerNorm(in_channels=2)),
            r"HybridSequential.1: a BatchNorm there, a LayerNorm here",
        ),
        (
            made(nn.Dense(2, in_units=3, use_bias=False), nn.BatchNorm(in_channels=2)),
            r"0: parameters weight, bias there, weight here",
        ),
    ):
        with pytest.raises(ParameterFileError, match=message):
            other.load(tmp_path / "net")
    (tmp_path / "net-model.json").write_text("{")
    with pytest.raises(ParameterFileError, match=r"net-model.json: not a description"):
        same.load(tmp_path / "net")
