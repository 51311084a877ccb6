"""Networks of the zoo: published numbers of parameters, forward passes, pretrained files."""

import math
import struct

import numpy as onp
import pytest

from npcompat import autograd, gluon, np, npx
from npcompat.gluon.model_zoo import vision

PUBLISHED = {  # the table of MXNet's model zoo: all parameters, running statistics included
    "alexnet": 61_100_840,
    "densenet121": 8_062_504,
    "densenet161": 28_900_936,
    "densenet169": 14_307_880,
    "densenet201": 20_242_984,
    "inceptionv3": 23_869_000,
    "mobilenet0.25": 475_544,
    "mobilenet0.5": 1_342_536,
    "mobilenet0.75": 2_601_976,
    "mobilenet1.0": 4_253_864,
    "mobilenetv2_0.25": 1_526_856,
    "mobilenetv2_0.5": 1_983_104,
    "mobilenetv2_0.75": 2_653_864,
    "mobilenetv2_1.0": 3_539_136,
    "resnet18_v1": 11_699_112,
    "resnet34_v1": 21_814_696,
    "resnet50_v1": 25_629_032,
    "resnet101_v1": 44_695_144,
    "resnet152_v1": 60_404_072,
    "resnet18_v2": 11_695_796,
    "resnet34_v2": 21_811_380,
    "resnet50_v2": 25_595_060,
    "resnet101_v2": 44_639_412,
    "resnet152_v2": 60_329_140,
    "squeezenet1.0": 1_248_424,
    "squeezenet1.1": 1_235_496,
    "vgg11": 132_863_336,
    "vgg13": 133_047_848,
    "vgg16": 138_357_544,
    "vgg19": 143_667_240,
    "vgg11_bn": 132_874_344,
    "vgg13_bn": 133_059_624,
    "vgg16_bn": 138_374_440,
    "vgg19_bn": 143_689_256,
}
FLATTENED = {
    "alexnet": 256 * 6 * 6,
    "vgg": 512 * 7 * 7,
    "densenet121": 1024,
    "densenet161": 2208,
    "densenet169": 1664,
}
FLATTENED |= {"densenet201": 1920, "inceptionv3": 2048}


@pytest.mark.parametrize("name", PUBLISHED)
def test_numbers_of_parameters_are_those_published(name):
    params = vision.get_model(name).collect_params().values()
    unknown = [p for p in params if not p.shape_is_known]
    assert len(unknown) <= 1
    for parameter in unknown:  # follows from the size of images: those of ImageNet
        parameter.shape = (
            parameter.shape[0],
            next(n for begin, n in FLATTENED.items() if name.startswith(begin)),
        )
    assert sum(math.prod(p.shape) for p in params) == PUBLISHED[name]


def test_networks_that_are_not_there_are_named():
    with pytest.raises(
        ValueError, match="there is no network 'resnet19_v1'; expected one of alexnet, "
    ):
        vision.get_model("resnet19_v1")
    with pytest.raises(ValueError, match="num_layers must be one of 18, 34, 50, 101, 152, got 19"):
        vision.get_resnet(1, 19)
    with pytest.raises(ValueError, match="version must be 1 or 2, got 3"):
        vision.get_resnet(3, 18)
    with pytest.raises(ValueError, match="num_layers must be one of 11, 13, 16, 19, got 12"):
        vision.get_vgg(12)
    with pytest.raises(ValueError, match="channels must be one longer than layers, got 1 and 1"):
        vision.ResNetV1(vision.BasicBlockV1, [1], [8])
    with pytest.raises(ValueError, match=r"version must be '1.0' or '1.1', got '2'"):
        vision.SqueezeNet("2")
    with pytest.raises(ValueError, match="of equal length"):
        vision.VGG([1], [8, 8])


# --- blocks of ResNets against torch --------------------------------------------------------------


def torch_block(torch, kind, params, x, stride):
    """The paper's formulas, in torch's functions, in training mode."""
    f = torch.nn.functional
    p = {n: torch.tensor(a, requires_grad=a.dtype.kind == "f") for n, a in params.items()}

    def norm(name, x):
        return f.batch_norm(
            x,
            torch.zeros(x.shape[1]),
            torch.ones(x.shape[1]),
            p[f"{name}.gamma"],
            p[f"{name}.beta"],
            True,
        )

    def conv(name, x, stride=1, padding=0):
        return f.conv2d(x, p[f"{name}.weight"], p.get(f"{name}.bias"), stride, padding)

    if kind == "BasicBlockV1":
        y = norm(
            "body.4", conv("body.3", norm("body.1", conv("body.0", x, stride, 1)).relu(), 1, 1)
        )
        y = (y + norm("downsample.1", conv("downsample.0", x, stride))).relu()
    elif kind == "BottleneckV1":
        y = norm(
            "body.4", conv("body.3", norm("body.1", conv("body.0", x, stride)).relu(), 1, 1)
        ).relu()
        y = (
            norm("body.7", conv("body.6", y))
            + norm("downsample.1", conv("downsample.0", x, stride))
        ).relu()
    else:
        a = norm("bn1", x).relu()
        if kind == "BasicBlockV2":
            y = conv("conv2", norm("bn2", conv("conv1", a, stride, 1)).relu(), 1, 1)
        else:
            y = conv(
                "conv3",
                norm("bn3", conv("conv2", norm("bn2", conv("conv1", a)).relu(), stride, 1)).relu(),
            )
        y = y + conv("downsample", a, stride)
    return y, p


@pytest.mark.parametrize("kind", ["BasicBlockV1", "BottleneckV1", "BasicBlockV2", "BottleneckV2"])
def test_residual_blocks_agree_with_torch(kind):
    torch = pytest.importorskip("torch", reason="compares with torch")
    block = getattr(vision, kind)(8, 2, downsample=True)
    block.initialize()
    block.hybridize()
    x = onp.random.RandomState(0).normal(size=(2, 4, 6, 6)).astype("float32")
    with autograd.record():
        y = block(np.array(x))
        loss = (y * y).sum()
    loss.backward()
    ours = block.collect_params()
    arrays = {n: p.data().asnumpy() for n, p in ours.items() if "running" not in n}
    theirs, leaves = torch_block(torch, kind, arrays, torch.tensor(x), 2)
    onp.testing.assert_allclose(y.asnumpy(), theirs.detach().numpy(), rtol=1e-3, atol=1e-4)
    (theirs * theirs).sum().backward()
    for name, leaf in leaves.items():
        onp.testing.assert_allclose(
            ours[name].grad().asnumpy(), leaf.grad.numpy(), rtol=2e-3, atol=2e-3, err_msg=name
        )


# --- whole networks, small ------------------------------------------------------------------------

SMALL = {
    "resnet v1": (
        lambda: vision.ResNetV1(vision.BasicBlockV1, [1, 1], [4, 4, 8], classes=3, thumbnail=True),
        8,
    ),
    "resnet v2": (lambda: vision.ResNetV2(vision.BottleneckV2, [1], [4, 8], classes=3), 16),
    "densenet": (lambda: vision.DenseNet(4, 2, (1, 1), dropout=0.5, classes=3), 56),
}


@pytest.mark.parametrize("name", SMALL)
def test_networks_give_the_same_eager_and_hybridized(name):
    make, size = SMALL[name]
    net = make()
    net.initialize()
    x = np.array(onp.random.RandomState(1).normal(size=(2, 3, size, size)))
    eager = net(x)
    net.hybridize()
    assert eager.shape == (2, 3)
    onp.testing.assert_allclose(net(x).asnumpy(), eager.asnumpy(), rtol=1e-4, atol=1e-5)
    assert net(x[:1]).shape == (1, 3)


def test_modules_of_mobilenet_and_squeezenet():
    """Shortcuts are taken where shapes allow; a fire module gives 8 times what it squeezes to."""
    net = vision.mobilenet_v2_0_25()
    fire = vision.squeezenet1_1().features[3]
    stages = vision.VGG([1, 1], [4, 8], batch_norm=True).features[
        :8
    ]  # without the dense layers, which are large
    for module, channels, shape in (
        (net.features[4], 4, (2, 6, 2, 2)),
        (net.features[5], 6, (2, 6, 4, 4)),
        (fire, 64, (2, 128, 4, 4)),
        (stages, 3, (2, 8, 1, 1)),
    ):
        module.initialize()
        module.hybridize()
        assert module(np.ones((2, channels, 4, 4))).shape == shape
    with_shortcut = net.features[5]
    x = np.ones((2, 6, 4, 4))
    onp.testing.assert_allclose(
        with_shortcut(x).asnumpy(), (with_shortcut.out(x) + x).asnumpy(), rtol=1e-5
    )
    assert [m.use_shortcut for m in net.features if hasattr(m, "use_shortcut")].count(True) == 10


def test_a_resnet_trains():
    net = vision.ResNetV1(vision.BasicBlockV1, [1, 1], [4, 4, 8], classes=2, thumbnail=True)
    net.initialize()
    net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.01})
    x, losses = np.array(onp.random.RandomState(2).normal(size=(4, 3, 8, 8))), []
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    for _ in range(5):
        with autograd.record():
            loss = loss_of(net(x), np.array([0, 1, 0, 1])).mean()
        loss.backward()
        trainer.step(1)
        losses.append(loss.item())
    assert losses[-1] < losses[0] and abs(net.features[1][0].body[1].running_mean.data()).max() > 0


# --- pretrained -----------------------------------------------------------------------------------


def test_pretrained_parameters_come_from_a_local_file(tmp_path, monkeypatch):
    random = onp.random.RandomState(0)
    shapes = {n: p.shape for n, p in vision.squeezenet1_1(classes=2).collect_params().items()}
    arrays = {n: random.normal(size=shape).astype("float32") for n, shape in shapes.items()}
    npx.savez(tmp_path / "squeezenet1.1.params", **arrays)
    params = vision.get_model(
        "squeezenet1.1", classes=2, pretrained=True, root=tmp_path
    ).collect_params()
    assert params.keys() == arrays.keys() and "features.3.1.1.0.weight" in params
    for name, array in arrays.items():
        onp.testing.assert_array_equal(params[name].data().asnumpy(), array)
    monkeypatch.setenv("MXNET_HOME", str(tmp_path))
    with pytest.raises(
        FileNotFoundError,
        match=r"squeezenet1\.0: no pretrained parameters in .*models; nothing is downloaded. Put a file",
    ):
        vision.squeezenet1_0(pretrained=True)
    with pytest.raises(ValueError, match="do not fit SqueezeNet"):
        vision.squeezenet1_1(pretrained=True, root=tmp_path)


def test_files_of_mxnets_zoo_are_found_by_their_names(tmp_path):
    content = struct.pack("<QQQQ", 0x112, 0, 0, 0)
    (tmp_path / "vgg11-dd221b16.params").write_bytes(content)
    (tmp_path / "vgg11_bn-ee79a809.params").write_bytes(content)
    with pytest.raises(ValueError, match="expected arrays with names, got 0 without"):
        vision.vgg11(pretrained=True, root=str(tmp_path))
    (tmp_path / "vgg11-00000000.params").write_bytes(content)
    with pytest.raises(
        ValueError,
        match=r"vgg11: several files .*keep one: vgg11-00000000.params, vgg11-dd221b16.params",
    ):
        vision.vgg11(pretrained=True, root=tmp_path)
