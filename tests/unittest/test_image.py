"""Pictures: decoding, sizes, crops and colours, on the host, on XLA and compiled."""

import io

import numpy as onp
import pytest
from internals import pillow

from npcompat import autograd, image, np, npx
from npcompat.numpy_extension._image_layout import host_picture

Image = pytest.importorskip("PIL.Image", reason="pictures are encoded by Pillow")
PICTURE = onp.random.default_rng(3).integers(0, 256, (13, 17, 3)).astype("uint8")


def encoded(kind="PNG", pixels=PICTURE, **options):
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, kind, **options)
    return stream.getvalue()


def on_host(x):
    return isinstance(x._value.payload, onp.ndarray)


# --- decoding -------------------------------------------------------------------------------------


def test_pictures_are_decoded_to_the_host(tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(encoded())
    for found in (
        image.imread(path),
        image.imdecode(encoded()),
        image.imdecode(np.array(onp.frombuffer(encoded(), "uint8"))),
    ):
        onp.testing.assert_array_equal(found.asnumpy(), PICTURE)
        assert found.dtype == "uint8" and on_host(found)
    onp.testing.assert_array_equal(image.imread(path, to_rgb=False).asnumpy(), PICTURE[:, :, ::-1])
    grey = image.imread(str(path), 0)
    assert grey.shape == (13, 17, 1)
    assert abs(grey.asnumpy()[..., 0] - PICTURE @ [0.299, 0.587, 0.114]).max() <= 1
    out = np.zeros((13, 17, 3), dtype="uint8")
    assert image.imdecode(encoded(), out=out) is out
    onp.testing.assert_array_equal(out.asnumpy(), PICTURE)


def test_a_picture_is_turned_as_its_exif_tag_says():
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was turned by 90 degrees
    assert image.imdecode(encoded("JPEG", exif=exif)).shape == (17, 13, 3)


def test_damaged_pictures_are_errors_that_name_the_file(tmp_path):
    path = tmp_path / "cut.jpg"
    path.write_bytes(encoded("JPEG")[:-200])
    with pytest.raises(
        ValueError, match=r"cut\.jpg: damaged picture of \d+ bytes, read up to byte \d+"
    ):
        image.imread(path)
    path.write_bytes(b"no picture at all")
    with pytest.raises(
        ValueError,
        match=r"cut\.jpg: not a picture of one of the formats .*; it begins with b'no pictu'",
    ):
        image.imread(path)
    path.write_bytes(b"")
    with pytest.raises(ValueError, match=r"cut\.jpg: expected an encoded picture, got no bytes"):
        image.imread(path)
    for length in (20, 60, 300):
        with pytest.raises(ValueError, match="imdecode: (damaged|not a picture)"):
            image.imdecode(encoded()[:length])
    with pytest.raises(
        ValueError, match=r"flag must be 1 \(colour\), 0 \(grey\) or -1 \(as it is\), got 2"
    ):
        image.imdecode(encoded(), 2)


def test_without_pillow_the_error_says_what_to_install(monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(pillow.importlib, "import_module", missing)
    with pytest.raises(
        ImportError,
        match=r"decoding pictures needs Pillow, which is not installed: pip install 'npcompat\[image\]'",
    ):
        image.imdecode(b"x")


# --- sizes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("interp", range(5))
def test_resizing_is_pillows_on_the_host_on_xla_and_compiled(interp):
    kind = (Image.NEAREST, Image.BILINEAR, Image.BICUBIC, Image.BOX, Image.LANCZOS)[interp]
    expected = onp.asarray(Image.fromarray(PICTURE).resize((9, 13), kind).resize((9, 20), kind))
    resize = npx.jit(lambda x: npx.image.resize(x, (9, 20), interp=interp))
    for x, function in (
        (host_picture(PICTURE), image.imresize),
        (np.array(PICTURE), image.imresize),
        (np.array(PICTURE), resize),
    ):
        found = function(x, 9, 20, interp) if function is image.imresize else function(x)  # type: ignore[call-arg]
        onp.testing.assert_array_equal(found.asnumpy(), expected)
    planes = [
        onp.asarray(Image.fromarray(PICTURE[:, :, c].astype("float32")).resize((9, 20), kind))
        for c in range(3)
    ]
    floats = image.imresize(host_picture(PICTURE.astype("float32")), 9, 20, interp)
    onp.testing.assert_allclose(floats.asnumpy(), onp.stack(planes, -1), rtol=1e-5, atol=1e-3)


def test_the_meaning_of_sizes_and_codes():
    x = host_picture(PICTURE)
    assert npx.image.resize(x, 5).shape == (5, 5, 3)
    assert (
        npx.image.resize(x, 5, keep_ratio=True).shape == (5, 6, 3) == image.resize_short(x, 5).shape
    )
    assert npx.image.resize(x, (5, 4), keep_ratio=True).shape == (4, 5, 3)
    assert image.resize_short(host_picture(PICTURE.transpose(1, 0, 2)), 5).shape == (6, 5, 3)
    batch = host_picture(onp.stack([PICTURE, PICTURE[::-1]]))
    one = npx.image.resize(batch, (6, 4)).asnumpy()
    onp.testing.assert_array_equal(
        one[1], npx.image.resize(host_picture(PICTURE[::-1]), (6, 4)).asnumpy()
    )
    for size, code in (((30, 30), 2), ((5, 5), 3), ((5, 30), 1)):
        onp.testing.assert_array_equal(
            image.imresize(x, *size, 9).asnumpy(), image.imresize(x, *size, code).asnumpy()
        )
    np.random.seed(1)
    first = image.imresize(x, 5, 5, 10).asnumpy()
    assert any((first == image.imresize(x, 5, 5, code).asnumpy()).all() for code in range(5))
    assert image.scale_down((640, 480), (720, 120)) == (640, 106) and image.scale_down(
        (3, 4), (2, 2)
    ) == (2, 2)
    for call, text in (
        (lambda: image.imresize(x, 5, 5, 7), "interp must be 0"),
        (
            lambda: image.imresize(x, 0, 5),
            "imresize: expected a positive width and height, got 0 and 5",
        ),
        (lambda: npx.image.resize(x, (1, 2, 3)), "resize: expected a positive number or"),
        (
            lambda: npx.image.resize(np.zeros((3, 3)), 2),
            r"resize: expected a picture \(H, W, C\) or a batch \(N, H, W, C\), got shape",
        ),
        (
            lambda: npx.image.resize(np.zeros((0, 3, 3)), 2),
            "a picture of 3 x 0 pixels can't be resized",
        ),
    ):
        with pytest.raises(ValueError, match=text):
            call()


def test_resizing_is_differentiated():
    x = np.ones((4, 4, 1))
    x.attach_grad()
    with autograd.record():
        y = npx.image.resize(x, 2, interp=3).sum()
    y.backward()
    onp.testing.assert_allclose(x.grad.asnumpy(), onp.full((4, 4, 1), 0.25))


# --- crops and borders ----------------------------------------------------------------------------


def test_crops():
    x = host_picture(PICTURE)
    onp.testing.assert_array_equal(image.fixed_crop(x, 2, 1, 5, 4).asnumpy(), PICTURE[1:5, 2:7])
    onp.testing.assert_array_equal(npx.image.crop(x, 2, 1, 5, 4).asnumpy(), PICTURE[1:5, 2:7])
    assert image.fixed_crop(x, 2, 1, 5, 4, (8, 9)).shape == (9, 8, 3)
    middle, where = image.center_crop(x, (5, 3))
    assert where == (6, 5, 5, 3)
    onp.testing.assert_array_equal(middle.asnumpy(), PICTURE[5:8, 6:11])
    enlarged, where = image.center_crop(x, (34, 13))
    assert enlarged.shape == (13, 34, 3) and where == (0, 3, 17, 6)
    for _ in range(5):
        window, (left, top, w, h) = image.random_crop(x, (5, 3))
        assert on_host(window)
        onp.testing.assert_array_equal(
            window.asnumpy(), PICTURE[int(top) : int(top) + h, int(left) : int(left) + w]
        )
        window, (left, top, w, h) = image.random_size_crop(x, (6, 6), (0.2, 0.5), (0.5, 2.0))
        assert 0.1 < w * h / (13 * 17) < 0.6 and left + w <= 17 and top + h <= 13
        onp.testing.assert_array_equal(
            window.asnumpy(), image.fixed_crop(x, left, top, w, h, (6, 6)).asnumpy()
        )
    assert image.random_size_crop(x, (6, 6), 0.99, (3.0, 3.0))[1] == image.center_crop(x, 6)[1]
    with pytest.raises(
        ValueError,
        match=r"fixed_crop: 5 x 4 pixels at \(13, 1\) are not within a picture of 17 x 13",
    ):
        image.fixed_crop(x, 13, 1, 5, 4)
    with pytest.raises(
        ValueError,
        match=r"random_size_crop: expected area=\(low, high\) with 0 < low <= high <= 1.0",
    ):
        image.random_size_crop(x, 6, (0.5, 1.5), (1, 1))


def test_random_windows_are_the_same_eager_and_compiled_and_each_pictures_own():
    batch = onp.stack([PICTURE] * 6)
    functions = (
        lambda x: npx.image.random_resized_crop(x, 6, 5, (0.1, 0.4)),
        lambda x: image.random_crop(x, (4, 3))[0],
    )
    for function in functions:
        results = []
        for x, call in ((host_picture(batch), function), (np.array(batch), npx.jit(function))):
            np.random.seed(4)
            results.append(call(x).asnumpy())
        assert len({r.tobytes() for r in results[0]}) > 3
        for other in results[1:]:
            onp.testing.assert_array_equal(other, results[0])
    impossible = npx.image.random_resized_crop(host_picture(PICTURE), 17, 8, (1.0, 1.0), (2.0, 2.0))
    onp.testing.assert_array_equal(impossible.asnumpy(), PICTURE[2:10])


def test_borders():
    x = np.array(PICTURE)
    for kind, mode in enumerate(("constant", "edge", "symmetric", "wrap", "reflect")):
        expected = onp.pad(PICTURE, ((1, 2), (3, 4), (0, 0)), mode)
        onp.testing.assert_array_equal(
            image.copyMakeBorder(x, 1, 2, 3, 4, kind).asnumpy(), expected
        )
    bordered = image.copyMakeBorder(x, 1, 0, 0, 0, values=(1, 2, 3)).asnumpy()
    assert (
        bordered[0].tolist() == [[1, 2, 3]] * 17
        and image.copyMakeBorder(x, 1, 0, 0, 0, value=7).asnumpy()[0].min() == 7
    )
    with pytest.raises(ValueError, match="expected 3 values, one for each channel, got 2"):
        image.copyMakeBorder(x, 1, 1, 1, 1, values=(1, 2))


def test_rotation_is_scipys():
    ndimage = pytest.importorskip("scipy.ndimage", reason="compares with SciPy")
    x = onp.random.default_rng(0).normal(size=(2, 9, 9)).astype("float32")
    found = image.imrotate(np.array(x), 30).asnumpy()
    expected = ndimage.rotate(x, 30, axes=(1, 2), reshape=False, order=1, mode="grid-constant")
    onp.testing.assert_allclose(found, expected, atol=1e-4)
    whole = image.imrotate(np.ones((1, 9, 5)), 45, zoom_in=True).asnumpy()
    onp.testing.assert_allclose(whole, 1, atol=1e-5)
    assert image.imrotate(np.ones((1, 9, 5)), 45, zoom_out=True).asnumpy().sum() < 30
    angles = [
        image.random_rotate(np.array(onp.stack([x] * 4)), (-90, 90)).asnumpy() for _ in range(2)
    ]
    assert len({a.tobytes() for part in angles for a in part}) == 8
    with pytest.raises(ValueError, match="exclude each other"):
        image.imrotate(np.array(x), 1, True, True)
    with pytest.raises(
        TypeError, match="expected float pictures, as ToTensor makes them, got dtype uint8"
    ):
        image.imrotate(np.array(PICTURE), 1)
    with pytest.raises(
        ValueError, match=r"expected one angle, or one for each of \(\) pictures, got \(2,\)"
    ):
        image.imrotate(np.array(x), [1, 2])


# --- colours --------------------------------------------------------------------------------------


def test_fixed_factors_change_colours_as_their_definitions_say():
    x, wide = host_picture(PICTURE), PICTURE.astype("float64")
    luma = wide @ [0.299, 0.587, 0.114]

    def clipped(values):
        return onp.clip(onp.floor(values + 0.5), 0, 255)

    for function, factor, expected in (
        (npx.image.random_brightness, 1.5, 1.5 * wide),
        (npx.image.random_contrast, 0.25, luma.mean() + 0.25 * (wide - luma.mean())),
        (npx.image.random_saturation, 1.75, luma[..., None] + 1.75 * (wide - luma[..., None])),
        (npx.image.random_hue, 1.0, wide),
    ):
        found = function(x, factor, factor)
        assert found.dtype == "uint8" and on_host(found)
        assert abs(found.asnumpy() - clipped(expected)).max() <= (0 if factor == 1 else 1)
    turned = npx.image.random_hue(np.array(wide, dtype="float32"), 0.3, 0.3).asnumpy()
    onp.testing.assert_allclose(turned @ [0.299, 0.587, 0.114], luma, rtol=1e-3, atol=0.05)
    assert abs(turned - wide).max() > 20
    onp.testing.assert_allclose(
        npx.image.adjust_lighting(x, (0.5, -1, 2)).asnumpy(),
        clipped(
            wide
            + onp.array(
                [(-0.5675, 0.7192, 0.4009), (-0.5808, -0.0045, -0.8140), (-0.5836, -0.6948, 0.4203)]
            )
            @ [27.73, -4.794, 2.296]
        ),
        atol=1,
    )


def test_single_channels_have_brightness_and_contrast_only():
    grey = host_picture(PICTURE[..., :1])
    for function in (npx.image.random_saturation, npx.image.random_hue):
        onp.testing.assert_array_equal(function(grey, 0.2, 0.3).asnumpy(), PICTURE[..., :1])
    onp.testing.assert_array_equal(npx.image.random_lighting(grey, 1.0).asnumpy(), PICTURE[..., :1])
    assert (npx.image.random_contrast(grey, 0, 0).asnumpy() == round(PICTURE[..., 0].mean())).all()
    with pytest.raises(
        ValueError,
        match=r"random_hue: expected 1 or 3 channels along the last axis, got shape \(2, 2, 4\)",
    ):
        npx.image.random_hue(np.zeros((2, 2, 4)), 0, 1)


def test_jitter_is_the_same_eager_and_compiled_and_each_pictures_own():
    batch = onp.stack([PICTURE] * 8)

    def jitter(x):
        return npx.image.random_lighting(npx.image.random_color_jitter(x, 0.4, 0.4, 0.4, 0.2), 0.5)

    results = []
    for x, call in ((host_picture(batch), jitter), (np.array(batch), npx.jit(jitter))):
        np.random.seed(5)
        results.append(call(x).asnumpy())
    assert len({r.tobytes() for r in results[0]}) == 8
    for other in results[1:]:
        assert (
            abs(other.astype(int) - results[0]).max() <= 1 and (other != results[0]).mean() < 0.001
        )
    unchanged = npx.image.random_color_jitter(np.array(PICTURE))
    onp.testing.assert_array_equal(unchanged.asnumpy(), PICTURE)
    with pytest.raises(
        ValueError, match="random_color_jitter: expected numbers that are not negative"
    ):
        npx.image.random_color_jitter(np.array(PICTURE), -0.1)


def test_color_normalize():
    found = image.color_normalize(host_picture(PICTURE), (1, 2, 3), onp.array([2.0, 4.0, 8.0]))
    assert found.dtype == "float32" and on_host(found)
    onp.testing.assert_allclose(
        found.asnumpy(), (PICTURE - onp.array([1.0, 2, 3])) / [2, 4, 8], rtol=1e-6
    )
    assert image.color_normalize(np.ones((2, 2, 3), dtype="float64"), 1.0).dtype == "float64"


def test_normalize_refuses_what_it_can_not_divide():
    for call, error, text in (
        (
            lambda: npx.image.normalize(np.array(PICTURE)),
            TypeError,
            "expected float pictures, as to_tensor makes them, got dtype uint8",
        ),
        (
            lambda: npx.image.normalize(np.ones((3, 2, 2)), (1, 2)),
            ValueError,
            "expected one mean, or one for each of 3 channels, got 2",
        ),
        (
            lambda: npx.image.normalize(np.ones((3, 2, 2)), 0, (1, 0, 1)),
            ValueError,
            "std must not be 0",
        ),
        (
            lambda: npx.image.normalize(np.ones((2, 2))),
            ValueError,
            r"expected pictures \(C, H, W\) or \(N, C, H, W\), got shape \(2, 2\)",
        ),
    ):
        with pytest.raises(error, match=text):
            call()
