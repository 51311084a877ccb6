"""Arrays of objects, texts and dates where linear algebra and transforms expect numbers."""

import numpy as onp
import pytest

from npcompat import np

NO_NUMBERS = {
    "objects": onp.array([[2.0, 1.0], [1.0, 3.0]], object),
    "texts": onp.array([["2", "1"], ["1", "3"]]),
    "dates": onp.array([[1, 2], [3, 5]], "M8[s]"),
    "durations": onp.array([[1, 2], [3, 5]], "m8[s]"),
}


@pytest.mark.parametrize("kind", NO_NUMBERS)
@pytest.mark.parametrize(
    "name",
    """
    linalg.inv linalg.det linalg.slogdet linalg.eigvals linalg.eig linalg.eigh linalg.eigvalsh
    linalg.svd linalg.svdvals linalg.cholesky linalg.pinv linalg.matrix_rank linalg.cond
    fft.fft fft.ifft fft.rfft fft.irfft fft.fft2 fft.fftn fft.rfftn
    """.split(),  # noqa: SIM905
)
def test_arrays_without_numbers_are_refused_with_numpys_text(name, kind):
    space, function = name.split(".")
    a = NO_NUMBERS[kind]
    with pytest.raises(TypeError) as expected:
        getattr(getattr(onp, space), function)(a)
    with pytest.raises(TypeError) as found:
        getattr(getattr(np, space), function)(np.array(a))
    assert str(found.value) == str(expected.value)


@pytest.mark.parametrize("kind", NO_NUMBERS)
def test_points_without_numbers_are_refused(kind):
    a, points = np.array(NO_NUMBERS[kind][0]), [1.0, 2.0]
    for call in (
        lambda: np.interp(a, points, points),
        lambda: np.interp(points, a, points),
        lambda: np.interp(points, points, a),
        lambda: np.digitize(points, a),
        lambda: np.bincount([0, 1], a),
    ):
        with pytest.raises(TypeError, match=r"Cannot cast array data .* the rule 'safe'"):
            call()
    for call in (
        lambda: np.polyfit(points, a, 1),
        lambda: np.linalg.solve(np.eye(2), a),
        lambda: np.linalg.lstsq(np.eye(2), a),
    ):
        with pytest.raises(TypeError):
            call()
    assert np.i0(a).dtype.kind == "f"


def test_edges_of_bins_of_objects_are_objects():
    a = np.array([1, 2], object)
    assert np.histogram(a)[1].dtype == object and np.histogram_bin_edges(a).dtype == object
    assert np.histogram(a, bins=[1, 2])[1].dtype == int
    assert np.histogram2d(a, a)[1].dtype.kind == "f"


def test_vectors_of_objects_are_multiplied():
    a = np.array([1, 2, 3], object)
    for found in (np.cross(a, a[::-1]), np.linalg.cross(a, a[::-1])):
        assert found.dtype == object and found.tolist() == [-4, 8, -4]
    assert np.cross(np.array([a, a]), a[::-1], axisc=0).shape == (3, 2)
