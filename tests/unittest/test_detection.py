"""Detection: anchors, boxes and regions as users call them, deformable layers, and errors; the
registry compares with the algorithms.
"""

import numpy as onp
import pytest

from npcompat import autograd, init, np, npx
from npcompat.gluon import nn


def test_anchors_are_centred_at_each_position():
    height, width, sizes, ratios = 3, 2, [0.5, 0.25], [1.0, 4.0]
    found = (
        npx.multibox_prior(np.zeros((2, 3, height, width)), sizes, ratios)
        .asnumpy()
        .reshape(height, width, 3, 4)
    )
    shapes = [(0.5, 1.0), (0.25, 1.0), (0.5, 4.0)]
    for i, j in onp.ndindex(height, width):
        for k, (size, ratio) in enumerate(shapes):
            across, down = size * onp.sqrt(ratio) * height / width / 2, size / onp.sqrt(ratio) / 2
            y, x = (i + 0.5) / height, (j + 0.5) / width
            onp.testing.assert_allclose(
                found[i, j, k], [x - across, y - down, x + across, y + down], rtol=1e-5, atol=1e-6
            )
    cut = npx.multibox_prior(
        np.zeros((1, 1, 1, 1)), [2.0], clip=True, steps=(0.5, 0.5), offsets=(0, 1)
    )
    assert (
        cut.tolist() == [[[0, 0, 1, 1]]]
        and npx.multibox_prior(np.zeros((1, 1, 1, 1), dtype="float16")).dtype == "float16"
    )


def test_suppression_keeps_the_best_of_what_overlaps(backend):
    rows = np.array([
        [0, 0.5, 0.1, 0.1, 0.2, 0.2],
        [1, 0.4, 0.1, 0.1, 0.2, 0.2],
        [0, 0.3, 0.1, 0.1, 0.14, 0.14],
        [2, 0.6, 0.5, 0.5, 0.7, 0.8],
    ])  # fmt: skip
    rows.attach_grad()
    with autograd.record():
        found = npx.box_nms(rows, overlap_thresh=0.1, id_index=0, force_suppress=True)
    found.backward()
    onp.testing.assert_allclose(
        found.asnumpy(), onp.concatenate([rows.asnumpy()[[3, 0]], onp.full((2, 6), -1)])
    )
    assert rows.grad.asnumpy().sum(1).tolist() == [6, 0, 0, 6]
    by_class = npx.box_nms(rows, overlap_thresh=0.1, id_index=0).asnumpy()
    onp.testing.assert_allclose(by_class[:3], rows.asnumpy()[[3, 0, 1]])
    centres = npx.box_nms(rows, 0.1, id_index=0, force_suppress=True, out_format="center").asnumpy()
    onp.testing.assert_allclose(centres[0, 2:], [0.6, 0.65, 0.2, 0.3], rtol=1e-5)
    again = npx.box_nms(centres[:2], 0.1, id_index=0, in_format="center").asnumpy()
    onp.testing.assert_allclose(again, rows.asnumpy()[[3, 0]], rtol=1e-5)


def test_what_is_encoded_is_decoded():
    anchors = np.array([[[0.1, 0.1, 0.5, 0.4], [0.2, 0.3, 0.9, 0.9]]])
    boxes = np.array([[[0.0, 0.2, 0.6, 0.6]]])
    codes, masks = npx.box_encode(
        np.ones((1, 2)),
        np.zeros((1, 2)),
        anchors,
        boxes,
        np.zeros(4),
        np.array([0.1, 0.1, 0.2, 0.2]),
    )
    found = npx.box_decode(codes, anchors, 0.1, 0.1, 0.2, 0.2, format="corner")
    onp.testing.assert_allclose(
        found.asnumpy(), onp.repeat(boxes.asnumpy(), 2, 1), rtol=1e-5, atol=1e-6
    )
    assert masks.tolist() == onp.ones((1, 2, 4)).tolist()


def test_a_detector_finds_what_it_has_learned(backend):
    """The codes and classes that anchors should learn lead back to the boxes that they were made
    of.
    """
    anchors = npx.multibox_prior(np.zeros((1, 1, 4, 4)), sizes=[0.3, 0.5])
    labels = np.array(
        [
            [[1, 0.1, 0.1, 0.4, 0.35], [0, 0.5, 0.4, 0.95, 0.9]],
            [[2, 0.6, 0.1, 0.9, 0.4], [-1, 0, 0, 0, 0]],
        ]
    )
    codes, mask, classes = npx.multibox_target(anchors, labels, np.zeros((2, 4, anchors.shape[1])))
    assert (
        mask.reshape(2, -1, 4).asnumpy().all(-1) == (classes.asnumpy() > 0)
    ).all() and classes.asnumpy().min() == 0
    probability = np.moveaxis(npx.one_hot(classes, 4), -1, 1)
    found = npx.multibox_detection(probability, codes, anchors).asnumpy()
    for b, count in ((0, 2), (1, 1)):
        kept = found[b][found[b, :, 0] >= 0]
        expected = sorted(labels.asnumpy()[b][:count].tolist())
        assert len(kept) == count
        onp.testing.assert_allclose(
            sorted(kept[:, [0, 2, 3, 4, 5]].tolist()), expected, rtol=1e-4, atol=1e-5
        )


def test_images_without_boxes_and_batches_without_images():
    anchors, none = np.array([[[0.0, 0.0, 0.5, 0.5]]]), np.array([[[-1.0, 0, 0, 0, 0]]])
    codes, mask, classes = npx.multibox_target(anchors, none, np.zeros((1, 2, 1)))
    assert codes.tolist() == mask.tolist() == [[0] * 4] and classes.tolist() == [[-1]]
    assert npx.multibox_detection(np.zeros((0, 2, 1)), np.zeros((0, 4)), anchors).shape == (0, 1, 6)
    assert npx.box_iou(np.ones((0, 4)), np.ones((3, 4))).shape == (0, 3) and npx.box_nms(
        np.ones((2, 0, 6))
    ).shape == (2, 0, 6)
    rows, columns = npx.bipartite_matching(np.zeros((2, 0, 3)), threshold=0.5)
    assert rows.shape == (2, 0) and columns.tolist() == [[-1] * 3] * 2
    assert npx.roi_pooling(np.ones((1, 2, 4, 4)), np.zeros((0, 5)), (2, 3), 1.0).shape == (
        0,
        2,
        2,
        3,
    )
    assert npx.deformable_convolution(
        np.ones((0, 1, 3, 3)), np.zeros((0, 2, 3, 3)), np.ones((2, 1, 1, 1))
    ).shape == (0, 2, 3, 3)


def test_regions_are_rounded_to_pixels_in_any_float():
    image = np.arange(36.0).reshape(1, 1, 6, 6)
    regions = np.array([[0, 0.6, 0.6, 3.4, 3.4], [0, 9, 9, 12, 12]])
    for dtype in ("float32", "float16", "bfloat16"):
        found = npx.roi_pooling(image.astype(dtype), regions, 1, 1.0)
        assert found.dtype == dtype and found.ravel().tolist() == [21, 0]  # the second lies outside
    with npx.backend("numpy"), pytest.raises(IndexError, match="rois name images .* below 1"):
        npx.roi_pooling(np.ones((1, 1, 4, 4)), [[1, 0, 0, 1, 1]], 2, 1.0)


# --- layers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [nn.DeformableConvolution, nn.ModulatedDeformableConvolution])
def test_deformable_layers_begin_as_convolutions_and_learn_offsets(kind):
    x = np.random.normal(size=(2, 4, 6, 5))
    layer = kind(4, 3, strides=2, padding=1, groups=2, num_deformable_group=2)
    layer.initialize(init.Normal(0.5))
    first = layer(x)
    plain = npx.convolution(x, layer.deformable_conv_weight.data(), stride=2, pad=1, num_group=2)
    onp.testing.assert_allclose(first.asnumpy(), plain.asnumpy(), rtol=1e-4, atol=1e-5)
    layer.offset_weight.set_data(np.random.normal(0, 0.1, size=layer.offset_weight.shape))
    results = []
    for way in ("eager", "hybridized" if kind is nn.DeformableConvolution else "jit"):
        layer.hybridize(way == "hybridized")
        x.attach_grad()
        with autograd.record():
            y = (npx.jit(layer) if way == "jit" else layer)(x)
            (y * y).sum().backward()
        results.append(
            [
                y.asnumpy(),
                x.grad.asnumpy(),
                layer.offset_weight.grad().asnumpy(),
                layer.offset_bias.grad().asnumpy(),
            ]
        )
    assert all(a.any() for a in results[0]) and not onp.allclose(
        results[0][0], plain.asnumpy(), atol=1e-3
    )
    for other in results[1:]:
        for one, another in zip(results[0], other, strict=True):
            onp.testing.assert_allclose(another, one, rtol=1e-3, atol=1e-4)
    assert (
        repr(layer) == f"{kind.__name__}(4 -> 4, kernel_size=(3, 3), stride=(2, 2), padding=(1, 1))"
    )


def test_deformable_layers_in_half_precision():
    layer = nn.DeformableConvolution(2, 3, in_channels=2, activation="relu", use_bias=False)
    layer.initialize()
    layer.cast("float16")
    y = layer(np.ones((1, 2, 4, 4), dtype="float16"))
    assert y.dtype == "float16" and y.shape == (1, 2, 2, 2) and y.asnumpy().min() >= 0


# --- errors ---------------------------------------------------------------------------------------

ANCHORS, IMAGE, WEIGHT = np.zeros((1, 2, 4)), np.ones((1, 2, 3, 3)), np.ones((2, 2, 2, 2))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: npx.box_iou(np.ones((2, 3)), np.ones((2, 4))),
            ValueError,
            "lhs must have boxes of 4 numbers",
        ),
        (
            lambda: npx.box_iou(np.ones(4), np.ones(4), "corners"),
            ValueError,
            "format must be 'corner' or 'center', got 'corners'",
        ),
        (lambda: npx.box_nms(np.ones((2, 5))), ValueError, "do not hold a box at 2"),
        (lambda: npx.box_nms(np.ones((2, 6)), in_format="x"), ValueError, "in_format must be"),
        (lambda: npx.bipartite_matching(np.ones(2), threshold=0), ValueError, "at least 2 axes"),
        (
            lambda: npx.bipartite_matching(np.ones((2, 2))),
            TypeError,
            "threshold, the limit of scores, must be given",
        ),
        (
            lambda: npx.box_encode(*[np.ones((1, 2))] * 6),
            ValueError,
            r"expected samples and matches \(batch, n\)",
        ),
        (
            lambda: npx.box_decode(np.ones((1, 3, 4)), ANCHORS),
            ValueError,
            r"got shapes \(1, 3, 4\) and \(1, 2, 4\)",
        ),
        (lambda: npx.multibox_prior(np.ones((3, 4))), ValueError, "data must have shape"),
        (
            lambda: npx.multibox_prior(IMAGE, sizes=()),
            ValueError,
            "sizes must be positive, at least one",
        ),
        (lambda: npx.multibox_prior(IMAGE, steps=(1,)), ValueError, "steps must be two numbers"),
        (
            lambda: npx.multibox_target(ANCHORS[0], np.ones((1, 1, 5)), np.ones((1, 2, 2))),
            ValueError,
            "anchor must have shape",
        ),
        (
            lambda: npx.multibox_target(ANCHORS, np.ones((1, 0, 5)), np.ones((1, 2, 2))),
            ValueError,
            "m at least 1",
        ),
        (
            lambda: npx.multibox_target(ANCHORS, np.ones((1, 1, 5)), np.ones((1, 2, 3))),
            ValueError,
            r"shape \(1, classes \+ 1, 2\)",
        ),
        (
            lambda: npx.multibox_target(
                ANCHORS, np.ones((1, 1, 5)), np.ones((1, 2, 2)), variances=(1, 1)
            ),
            ValueError,
            "four positive numbers",
        ),
        (
            lambda: npx.multibox_detection(np.ones((1, 2, 3)), np.ones((1, 8)), ANCHORS),
            ValueError,
            "got shapes",
        ),
        (
            lambda: npx.multibox_detection(
                np.ones((1, 2, 2)), np.ones((1, 8)), ANCHORS, background_id=2
            ),
            ValueError,
            "background_id=2",
        ),
        (
            lambda: npx.roi_pooling(np.ones((2, 3, 4)), np.ones((1, 5)), 2, 1.0),
            ValueError,
            "data must have shape",
        ),
        (
            lambda: npx.roi_pooling(IMAGE, np.ones((1, 4)), 2, 1.0),
            ValueError,
            r"rois must have shape \(n, 5\), got \(1, 4\)",
        ),
        (
            lambda: npx.roi_pooling(IMAGE, np.ones((1, 5)), (2, 0), 1.0),
            ValueError,
            "pooled_size must be a positive height and width",
        ),
        (
            lambda: npx.deformable_convolution(IMAGE, np.ones((1, 8, 2, 3)), WEIGHT),
            ValueError,
            r"offset must have shape \(1, 8, 2, 2\)",
        ),
        (
            lambda: npx.deformable_convolution(IMAGE, np.ones((1, 8, 2, 2)), WEIGHT, np.ones(3)),
            ValueError,
            r"bias must have shape \(2,\)",
        ),
        (
            lambda: npx.deformable_convolution(IMAGE, IMAGE, WEIGHT, num_group=2),
            ValueError,
            "does not fit weight",
        ),
        (
            lambda: npx.deformable_convolution(IMAGE, IMAGE, WEIGHT, layout="NHWC"),
            NotImplementedError,
            "only NCHW",
        ),
        (
            lambda: npx.modulated_deformable_convolution(
                IMAGE, np.ones((1, 8, 2, 2)), np.ones((1, 3, 2, 2)), WEIGHT
            ),
            ValueError,
            r"mask must have shape \(1, 4, 2, 2\)",
        ),
        (
            lambda: nn.DeformableConvolution(4, 3, groups=3),
            ValueError,
            "3 groups must divide 0 input and 4 output channels",
        ),
        (
            lambda: nn.DeformableConvolution(4, 3, layout="NHWC"),
            ValueError,
            "layout must be one of NCHW",
        ),
    ],
)
def test_what_does_not_fit_is_an_error(call, error, text):
    with pytest.raises(error, match=text):
        call()
