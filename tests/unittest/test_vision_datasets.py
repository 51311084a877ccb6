"""Datasets of pictures: published formats from small files written here, folders, lists, records,
and what is damaged.
"""

import gzip
import io
import pickle
import struct

import numpy as onp
import pytest
from internals import DataFileError

from npcompat import gluon, np, recordio
from npcompat.gluon.data import vision

RNG = onp.random.default_rng(1)
IMAGES = RNG.integers(0, 256, (7, 28, 28)).astype("uint8")
LABELS = RNG.integers(0, 10, 7).astype("uint8")


def idx(array):
    return struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape) + array.tobytes()


def mnist(folder, packed=False, part="train"):
    for name, array in (
        (f"{part}-images-idx3-ubyte", IMAGES),
        (f"{part}-labels-idx1-ubyte", LABELS),
    ):
        if packed:
            (folder / (name + ".gz")).write_bytes(gzip.compress(idx(array)))
        else:
            (folder / name).write_bytes(idx(array))


@pytest.mark.parametrize("packed", [True, False])
def test_mnist(tmp_path, packed):
    mnist(tmp_path, packed)
    mnist(tmp_path, packed, "t10k")
    for data in (
        vision.MNIST(tmp_path),
        vision.MNIST(str(tmp_path), train=False),
        vision.FashionMNIST(tmp_path),
    ):
        picture, label = data[3]
        assert (
            len(data) == 7
            and picture.shape == (28, 28, 1)
            and picture.dtype == "uint8"
            and label.dtype == "int32"
        )
        pictures, labels = data[:]
        assert pictures.shape == (7, 28, 28, 1) and label.asnumpy() == labels.asnumpy()[3]
        labels += 1
        assert data[3][1] == label, "a slice is a copy"
        onp.testing.assert_array_equal(picture.asnumpy()[..., 0], IMAGES[3])
        assert [int(label) for _, label in data] == LABELS.tolist()
    pictures, labels = data[2:5]
    assert pictures.shape == (3, 28, 28, 1) and labels.tolist() == LABELS[2:5].tolist()
    picture[...] = 0
    onp.testing.assert_array_equal(data[3][0].asnumpy()[..., 0], IMAGES[3])
    flipped = vision.MNIST(tmp_path, transform=lambda data, label: (255 - data, -label))
    onp.testing.assert_array_equal(flipped[1][0].asnumpy()[..., 0], 255 - IMAGES[1])
    to_tensor = data.transform_first(vision.transforms.ToTensor())
    (batch,) = gluon.data.DataLoader(pickle.loads(pickle.dumps(to_tensor)), 7)
    onp.testing.assert_allclose(batch[0].asnumpy()[:, 0], IMAGES / onp.float32(255), rtol=1e-6)
    assert batch[1].dtype == "int32" and batch[1].tolist() == LABELS.tolist()


@pytest.mark.parametrize(
    ("damage", "text"),
    [
        (
            lambda c: c[:-10],
            "the file ends at offset 5494; elements of shape (7, 28, 28) end at 5504",
        ),
        (
            lambda c: c + b"12",
            "2 bytes too many after offset 5504, where elements of shape (7, 28, 28) end",
        ),
        (lambda c: c[:9], "the file ends at offset 9, within the lengths of its 3 axes"),
        (
            lambda c: b"junk" + c[4:],
            "expected an IDX file of bytes and 3 axes at offset 0, which begins 00 00 08 03; got 6a 75 6e 6b",
        ),
        (lambda c: b"", "got an empty file"),
        (lambda c: idx(IMAGES[:5]), "train-images-idx3-ubyte has 5 pictures, but"),
    ],
)
def test_damaged_mnist(tmp_path, damage, text):
    mnist(tmp_path)
    path = tmp_path / "train-images-idx3-ubyte"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(DataFileError) as error:
        vision.MNIST(tmp_path)
    assert text in str(error.value) and str(path) in str(error.value)


def test_damaged_gzip_and_missing_files(tmp_path):
    mnist(tmp_path, packed=True)
    path = tmp_path / "train-labels-idx1-ubyte.gz"
    content = path.read_bytes()
    for broken in (content[:-9], b"no gzip", content[:12] + b"\xff\xff" + content[14:]):
        path.write_bytes(broken)
        with pytest.raises(
            DataFileError, match=r"train-labels-idx1-ubyte\.gz: damaged gzip file of \d+ bytes"
        ):
            vision.MNIST(tmp_path)
    path.unlink()
    with pytest.raises(
        FileNotFoundError,
        match=r"train-labels-idx1-ubyte\.gz is missing; nothing is downloaded: get it from http://yann",
    ):
        vision.MNIST(tmp_path)
    with pytest.raises(
        FileNotFoundError,
        match="t10k-images-idx3-ubyte.gz is missing; .*zalandoresearch/fashion-mnist",
    ):
        vision.FashionMNIST(tmp_path, train=False)


def test_cifar(tmp_path):
    pictures = RNG.integers(0, 256, (12, 32, 32, 3)).astype("uint8")
    planes = pictures.transpose(0, 3, 1, 2).reshape(12, -1)
    labels = onp.arange(24, dtype="uint8").reshape(12, 2)
    ten = onp.concatenate([labels[:, :1], planes], 1)
    folder = tmp_path / "cifar-10-batches-bin"
    folder.mkdir()
    for i in range(5):
        (folder / f"data_batch_{i + 1}.bin").write_bytes(ten[2 * i : 2 * i + 2].tobytes())
    (tmp_path / "test_batch.bin").write_bytes(ten[10:].tobytes())
    (tmp_path / "train.bin").write_bytes(onp.concatenate([labels, planes], 1).tobytes())
    data = vision.CIFAR10(tmp_path)
    assert (
        len(data) == 10
        and data[9][0].shape == (32, 32, 3)
        and [int(label) for _, label in data] == list(range(0, 20, 2))
    )
    onp.testing.assert_array_equal(data[7][0].asnumpy(), pictures[7])
    onp.testing.assert_array_equal(
        vision.CIFAR10(tmp_path, train=False)[1][0].asnumpy(), pictures[11]
    )
    assert [int(label) for _, label in vision.CIFAR100(tmp_path)] == list(range(0, 24, 2))
    assert [int(label) for _, label in vision.CIFAR100(tmp_path, fine_label=True)] == list(
        range(1, 25, 2)
    )
    with pytest.raises(
        FileNotFoundError,
        match=r"test\.bin is missing; nothing is downloaded: get it from https://www\.cs\.toronto",
    ):
        vision.CIFAR100(tmp_path, train=False)
    (folder / "data_batch_3.bin").write_bytes(ten[:2].tobytes()[:-5])
    with pytest.raises(
        DataFileError,
        match=r"data_batch_3\.bin: the file ends at offset 6141, within record 1 of 3073 bytes, .* at 3073",
    ):
        vision.CIFAR10(tmp_path)


# --- files of pictures ----------------------------------------------------------------------------


def png(value):
    image = pytest.importorskip("PIL.Image", reason="pictures are encoded by Pillow")
    stream = io.BytesIO()
    image.fromarray(onp.full((4, 5, 3), value, "uint8")).save(stream, "PNG")
    return stream.getvalue()


def test_folders(tmp_path):
    assert vision.datasets.ImageFolderDataset is vision.ImageFolderDataset
    for name, files in (("cat", ("b.png", "a.PNG")), ("dog", ("c.png",)), ("empty", ())):
        (tmp_path / name).mkdir()
        for i, file in enumerate(files):
            (tmp_path / name / file).write_bytes(png(10 * i))
    data = vision.ImageFolderDataset(tmp_path)
    assert data.synsets == ["cat", "dog", "empty"] and [label for _, label in data.items] == [
        0,
        0,
        1,
    ]
    picture, label = data[1]
    assert picture.shape == (4, 5, 3) and label == 0 and int(picture[0, 0, 0]) == 0
    assert vision.ImageFolderDataset(tmp_path, 0, lambda data, label: (data.shape, label + 1))[
        2
    ] == ((4, 5, 1), 2)
    (tmp_path / "dog" / "notes.txt").write_text("x")
    with pytest.warns(
        UserWarning, match=r"notes\.txt is left out: expected one of \.jpg, \.jpeg, \.png"
    ):
        vision.ImageFolderDataset(tmp_path)
    (tmp_path / "dog" / "c.png").write_bytes(png(0)[:-28])
    with pytest.raises(ValueError, match=r"c\.png: damaged picture of \d+ bytes"):
        data[2]


def test_lists(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.png").write_bytes(png(ord(name)))
    (tmp_path / "some.lst").write_text("5\t1.5\t2\ta.png\n\n6\t3\t4\tb.png\n")
    data = vision.ImageListDataset(tmp_path, "some.lst")
    picture, label = data[1]
    assert (
        len(data) == 2
        and int(picture[0, 0, 0]) == ord("b")
        and label.tolist() == [3, 4]
        and label.dtype == "float32"
    )
    data = vision.ImageListDataset(
        tmp_path, [[1, "a.png"], [1, 2, "b.png"], [np.array([3.0, 4.0]), "a.png"]], flag=0
    )
    assert [data[i][1].tolist() for i in range(3)] == [[1], [1, 2], [3, 4]] and data[0][
        0
    ].shape == (4, 5, 1)
    (tmp_path / "some.lst").write_text("5\t1.5\ta.png\n6\tb.png\n")
    with pytest.raises(
        DataFileError,
        match=r"some\.lst, line 2: expected a number, labels and a path, parted by tabs, got '6\\tb\.png'",
    ):
        vision.ImageListDataset(tmp_path, "some.lst")
    with pytest.raises(
        TypeError, match="imglist must be a path or a sequence of labels and paths, got NoneType"
    ):
        vision.ImageListDataset(tmp_path)
    with pytest.raises(ValueError, match=r"expected labels and a path, got \[1, 2\]"):
        vision.ImageListDataset(tmp_path, [[1, 2]])


def test_records_of_pictures(tmp_path):
    with recordio.MXIndexedRecordIO(tmp_path / "a.idx", tmp_path / "a.rec", "w") as file:
        for i in range(3):
            file.write_idx(i, recordio.pack((0, float(i), i, 0), png(i)))
        file.write_idx(7, recordio.pack((0, [1.0, 2.0], 7, 0), png(1)[:-28]))
    data = vision.ImageRecordDataset(tmp_path / "a.rec")
    assert len(data) == 4 and [(int(data[i][0][0, 0, 0]), data[i][1]) for i in range(3)] == [
        (0, 0.0),
        (1, 1.0),
        (2, 2.0),
    ]
    assert vision.ImageRecordDataset(tmp_path / "a.rec", 0, lambda data, label: data.shape)[0] == (
        4,
        5,
        1,
    )
    with pytest.raises(
        DataFileError,
        match=r"a\.rec: record 7 at offset \d+: imdecode: damaged picture of \d+ bytes",
    ):
        data[3]
