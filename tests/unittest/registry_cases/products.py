"""Cases of matrix products and linear algebra.

Factors are compared by what does not depend on the choice of signs.
"""

import numpy as onp

from registry_cases.case import ALL, LINEAR, NUMBERS, case

PRODUCT = {"dtypes": NUMBERS, "second": True, "loose": 4.0}

case(
    "_npi_matmul",
    lambda xp, a, b: a @ b,
    "2,3",
    "3,4",
    bad=(([[1.0, 2.0]], [[1.0, 2.0]]), ([1.0], 2)),
    **{**PRODUCT, "dtypes": ALL},
)
case("_npi_matmul", lambda xp, a, b: xp.matmul(a, b), "2,1,2,3", "2,3,1", dtypes="i f d")
case("_npi_matmul", lambda xp, a, b: xp.matmul(a, b), "3", "2,3,2", dtypes="i f d")
case(
    "_npi_matvec",
    lambda xp, a, b: xp.matvec(a, b),
    "2,3",
    "3",
    bad=(([[1.0, 2.0]], [1.0]),),
    **PRODUCT,
)
case("_npi_vecmat", lambda xp, a, b: xp.vecmat(a, b), "3", "3,2", **PRODUCT)
case("_npi_vecdot", lambda xp, a, b: xp.vecdot(a, b), "2,3", "3", **PRODUCT)
case(
    "_npi_dot", lambda xp, a, b: xp.dot(a, b), "2,3", "4,3,2", bad=(([1.0, 2.0], [1.0]),), **PRODUCT
)
case("_npi_dot", lambda xp, a, b: a.dot(b), "3", "3", dtypes="? i f d")
case(
    "_npi_vdot", lambda xp, a, b: xp.vdot(a, b), "2,3", "3,2", bad=(([1.0, 2.0], [1.0]),), **PRODUCT
)
case(
    "_npi_inner",
    lambda xp, a, b: xp.inner(a, b),
    "2,3",
    "4,3",
    bad=(([1.0, 2.0], [1.0]),),
    **PRODUCT,
)
case("_npi_outer", lambda xp, a, b: xp.outer(a, b), "2,3", "2", **PRODUCT)
case("_npi_kron", lambda xp, a, b: xp.kron(a, b), "2,3", "2,2", **PRODUCT)
case(
    "_npi_tensordot",
    lambda xp, a, b: xp.tensordot(a, b, axes=([1, 0], [0, 1])),
    "2,3",
    "3,2,4",
    bad=(([[1.0]], [1.0]),),
    **PRODUCT,
)
case("_npi_tensordot", lambda xp, a, b: xp.tensordot(a, b, 1), "2,3", "3,2", dtypes="i f d")
case(
    "_npi_einsum",
    lambda xp, a, b: xp.einsum("ij,jk->ki", a, b),
    "2,3",
    "3,4",
    bad=(([[1.0, 2.0]], [[1.0], [2.0], [3.0]]),),
    **PRODUCT,
)
case(
    "_npi_einsum",
    lambda xp, a: xp.einsum("ii->i", a) + xp.einsum("ij->j", a) * xp.einsum("...ii", a),
    "3,3",
    dtypes="i f d",
)
case("_npi_cross", lambda xp, a, b: xp.cross(a, b), "2,3", "3", bad=(([1.0], [1.0]),), **PRODUCT)

# --- linear algebra -------------------------------------------------------------------------------

MATRIX = {"dtypes": f"i {LINEAR}", "loose": 40.0}
NOT_SQUARE = {"bad": (([[1.0, 2.0]],), ([1.0],))}


def weights(n):
    """Weights that tell the elements of a vector apart."""
    return onp.arange(1.0, n + 1)


case(
    "_npi_norm",
    lambda xp, a: xp.linalg.norm(a),
    "2,3 nonzero",
    dtypes="? i f d F D",
    second=True,
    loose=4,
)
for order, axis in ((1, None), ("fro", None), (2, 0), (onp.inf, 1), (3, -1), (0, 0), (-1, (0, 1))):
    case(
        "_npi_norm",
        lambda xp, a, order=order, axis=axis: xp.linalg.norm(a, order, axis),
        "2,3 distinct",
        dtypes="i f d",
        loose=4,
        grad=() if order == 0 else None,
    )
case(
    "_npi_norm",
    lambda xp, a: xp.linalg.norm(a, "nuc") + xp.linalg.norm(a, 2),
    "3,2 dominant",
    dtypes="f d",
    loose=40,
)
case(
    "_npi_vector_norm",
    lambda xp, a: xp.linalg.vector_norm(a, axis=1, keepdims=True),
    "2,3 nonzero",
    dtypes="i f d F D",
    second=True,
    loose=4,
)
case(
    "_npi_det",
    lambda xp, a: xp.linalg.det(a),
    "2,3,3 dominant",
    second=True,
    **MATRIX,
    **NOT_SQUARE,
)
case("_npi_slogdet", lambda xp, a: xp.linalg.slogdet(a), "2,3,3 dominant", **MATRIX, **NOT_SQUARE)
case(
    "_npi_inv",
    lambda xp, a: xp.linalg.inv(a),
    "2,3,3 dominant",
    second=True,
    bad=(([[1.0, 2.0]],), ([[1.0, 1.0], [1.0, 1.0]],)),
    **MATRIX,
)
case(
    "_npi_solve",
    lambda xp, a, b: xp.linalg.solve(a, b),
    "3,3 dominant",
    "3,2",
    second=True,
    bad=(([[1.0, 2.0]], [1.0]), ([[0.0]], [1.0])),
    **MATRIX,
)
case(
    "_npi_solve",
    lambda xp, a, b: xp.linalg.solve(a, b),
    "3,3 dominant",
    "3",
    dtypes="f d",
    loose=40,
)
case(
    "_npi_matrix_power",
    lambda xp, a: xp.linalg.matrix_power(a, 3),
    "2,2,2 unit",
    dtypes="i l f d F D",
    loose=40,
    second=True,
    **NOT_SQUARE,
)
case(
    "_npi_matrix_power", lambda xp, a: xp.linalg.matrix_power(a, 0), "3,3", dtypes="i f d", grad=()
)
case("_npi_pinv", lambda xp, a: xp.linalg.pinv(a), "3,2 dominant", **MATRIX)
case(
    "_npi_lstsq",
    lambda xp, a, b: xp.linalg.lstsq(a, b)[:2],
    "4,2 definite",
    "4,3",
    dtypes="f d F D",
    loose=100,
    layouts=("ordinary", "view"),
)
case(
    "_npi_cholesky",
    lambda xp, a: xp.linalg.cholesky(a),
    "2,3,3 definite",
    grad=(),
    bad=(([[1.0, 2.0]],), ([[-1.0]],)),
    **MATRIX,
)
case(
    "_npi_cholesky",
    lambda xp, a: xp.linalg.cholesky(
        xp.matmul(a, xp.swapaxes(a, -1, -2)) + 2 * xp.eye(3), upper=True
    ),
    "3,3",
    dtypes="f d",
    loose=40,
)
case(
    "_npi_qr",
    lambda xp, a: tuple(factors(xp, *xp.linalg.qr(a))),
    "3,2 dominant",
    **MATRIX,
    bad=(([1.0],),),
)
case("_npi_qr_r", lambda xp, a: abs(xp.linalg.qr(a, mode="r")), "3,2 dominant", **MATRIX)
case(
    "_npi_svd",
    lambda xp, a: decomposed(xp, *xp.linalg.svd(a, full_matrices=False)),
    "3,2 dominant",
    **MATRIX,
    bad=(([1.0],),),
)
case("_npi_svdvals", lambda xp, a: xp.linalg.svd(a, compute_uv=False), "3,2 dominant", **MATRIX)
case(
    "_npi_eigh",
    lambda xp, a: spectral(xp, *xp.linalg.eigh(a)),
    "2,3,3 hermitian",
    grad=(),
    **MATRIX,
    **NOT_SQUARE,
)
case(
    "_npi_eigh", lambda xp, a: spectral(xp, *xp.linalg.eigh(a + a.T)), "3,3", dtypes="f d", loose=40
)
case(
    "_npi_eigvalsh",
    lambda xp, a: xp.linalg.eigvalsh(a),
    "2,3,3 hermitian",
    grad=(),
    **MATRIX,
    **NOT_SQUARE,
)
case("_npi_eigvalsh", lambda xp, a: xp.linalg.eigvalsh(a + a.T), "3,3", dtypes="f d", loose=40)
case(
    "_npi_eig",
    lambda xp, a: rebuilt(xp, *xp.linalg.eig(a)),
    "3,3 definite",
    value_dtype=False,
    grad=(),
    **MATRIX,
    **NOT_SQUARE,
)
case(
    "_npi_eigvals",
    lambda xp, a: powers(xp, xp.linalg.eigvals(a)),
    "2,3,3 definite",
    value_dtype=False,
    grad=(),
    **MATRIX,
    **NOT_SQUARE,
)


def factors(xp, q, r):
    """Return invariants of a QR factorization, whose signs are arbitrary."""
    return xp.matmul(q, r), abs(r), xp.matmul(xp.conjugate(xp.swapaxes(q, -1, -2)), q)


def decomposed(xp, u, s, vh):
    """Return invariants of a singular value decomposition, whose vectors have arbitrary signs."""
    return xp.matmul(u * s[..., None, :], vh), s, abs(vh)


def spectral(xp, w, v):
    """Return invariants of an eigendecomposition, whose vectors have arbitrary signs."""
    return w, xp.matmul(v * w[..., None, :], xp.conjugate(xp.swapaxes(v, -1, -2))), abs(v)


def rebuilt(xp, w, v):
    """Return invariants of an eigendecomposition of arbitrary order and scale."""
    return xp.matmul(v * w[..., None, :], xp.linalg.inv(v)).real, powers(xp, w)


def powers(xp, w):
    """Power sums of eigenvalues, which do not depend on their order."""
    return [(w**k).sum(axis=-1).real for k in (1, 2, 3)]
