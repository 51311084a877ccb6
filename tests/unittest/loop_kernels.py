"""Kernels of numerical programs with loops over elements, over a namespace like NumPy's."""

import numpy as onp


def kernels(np):
    """The kernels, by name."""

    def cholesky(A):
        A[0, 0] = np.sqrt(A[0, 0])
        for i in range(1, A.shape[0]):
            for j in range(i):
                A[i, j] -= np.dot(A[i, :j], A[j, :j])
                A[i, j] /= A[j, j]
            A[i, i] -= np.dot(A[i, :i], A[i, :i])
            A[i, i] = np.sqrt(A[i, i])

    def lu(A):
        for i in range(A.shape[0]):
            for j in range(i):
                A[i, j] -= A[i, :j] @ A[:j, j]
                A[i, j] /= A[j, j]
            for j in range(i, A.shape[0]):
                A[i, j] -= A[i, :i] @ A[:i, j]

    def ludcmp(A, b):
        x = np.zeros_like(b)
        y = np.zeros_like(b)
        for i in range(A.shape[0]):
            for j in range(i):
                A[i, j] -= A[i, :j] @ A[:j, j]
                A[i, j] /= A[j, j]
            for j in range(i, A.shape[0]):
                A[i, j] -= A[i, :i] @ A[:i, j]
        for i in range(A.shape[0]):
            y[i] = b[i] - A[i, :i] @ y[:i]
        for i in range(A.shape[0] - 1, -1, -1):
            x[i] = (y[i] - A[i, i + 1 :] @ x[i + 1 :]) / A[i, i]
        return x, y

    def seidel_2d(TSTEPS, N, A):
        for _ in range(0, TSTEPS - 1):
            for i in range(1, N - 1):
                A[i, 1:-1] += (
                    A[i - 1, :-2]
                    + A[i - 1, 1:-1]
                    + A[i - 1, 2:]
                    + A[i, 2:]
                    + A[i + 1, :-2]
                    + A[i + 1, 1:-1]
                    + A[i + 1, 2:]
                )
                for j in range(1, N - 1):
                    A[i, j] += A[i, j - 1]
                    A[i, j] /= 9.0

    def syr2k(alpha, beta, C, A, B):
        for i in range(A.shape[0]):
            C[i, : i + 1] *= beta
            for k in range(A.shape[1]):
                C[i, : i + 1] += A[: i + 1, k] * alpha * B[i, k] + B[: i + 1, k] * alpha * A[i, k]

    def trmm(alpha, A, B):
        for i in range(B.shape[0]):
            for j in range(B.shape[1]):
                B[i, j] += np.dot(A[i + 1 :, i], B[i + 1 :, j])
        B *= alpha

    def match(b1, b2):
        if b1 + b2 == 3:
            return 1
        else:
            return 0

    def nussinov(N, seq):
        table = np.zeros((N, N), np.int32)
        for i in range(N - 1, -1, -1):
            for j in range(i + 1, N):
                if j - 1 >= 0:
                    table[i, j] = max(table[i, j], table[i, j - 1])
                if i + 1 < N:
                    table[i, j] = max(table[i, j], table[i + 1, j])
                if j - 1 >= 0 and i + 1 < N:
                    if i < j - 1:
                        table[i, j] = max(table[i, j], table[i + 1, j - 1] + match(seq[i], seq[j]))
                    else:
                        table[i, j] = max(table[i, j], table[i + 1, j - 1])
                for k in range(i + 1, j):
                    table[i, j] = max(table[i, j], table[i, k] + table[k + 1, j])
        return table

    def crc16(data, poly=0x8408):
        crc = 0xFFFF
        for b in data:
            cur_byte = 0xFF & b
            for _ in range(0, 8):
                if (crc & 0x0001) ^ (cur_byte & 0x0001):
                    crc = (crc >> 1) ^ poly
                else:
                    crc >>= 1
                cur_byte >>= 1
        crc = ~crc & 0xFFFF
        crc = (crc << 8) | ((crc >> 8) & 0xFF)
        return crc & 0xFFFF

    def spmv(A_row, A_col, A_val, x):
        y = np.empty(A_row.size - 1, A_val.dtype)
        for i in range(A_row.size - 1):
            cols = A_col[A_row[i] : A_row[i + 1]]
            vals = A_val[A_row[i] : A_row[i + 1]]
            y[i] = vals @ x[cols]
        return y

    def contour_integral(NR, NM, slab_per_bc, Ham, int_pts, Y):
        P0 = np.zeros((NR, NM), dtype=np.complex128)
        P1 = np.zeros((NR, NM), dtype=np.complex128)
        for z in int_pts:
            Tz = np.zeros((NR, NR), dtype=np.complex128)
            for n in range(slab_per_bc + 1):
                zz = np.power(z, slab_per_bc / 2 - n)
                Tz += zz * Ham[n]
            if NR == NM:
                X = np.linalg.inv(Tz)
            else:
                X = np.linalg.solve(Tz, Y)
            if abs(z) < 1.0:
                X = -X
            P0 += X
            P1 += z * X
        return P0, P1

    def build_up_b(rho, dt, dx, dy, u, v):
        b = np.zeros_like(u)
        b[1:-1, 1:-1] = rho * (
            1
            / dt
            * ((u[1:-1, 2:] - u[1:-1, 0:-2]) / (2 * dx) + (v[2:, 1:-1] - v[0:-2, 1:-1]) / (2 * dy))
            - ((u[1:-1, 2:] - u[1:-1, 0:-2]) / (2 * dx)) ** 2
            - 2
            * ((u[2:, 1:-1] - u[0:-2, 1:-1]) / (2 * dy) * (v[1:-1, 2:] - v[1:-1, 0:-2]) / (2 * dx))
            - ((v[2:, 1:-1] - v[0:-2, 1:-1]) / (2 * dy)) ** 2
        )
        b[1:-1, -1] = rho * (
            1 / dt * ((u[1:-1, 0] - u[1:-1, -2]) / (2 * dx) + (v[2:, -1] - v[0:-2, -1]) / (2 * dy))
            - ((u[1:-1, 0] - u[1:-1, -2]) / (2 * dx)) ** 2
        )
        return b

    def pressure(nit, p, dx, dy, b):
        pn = np.empty_like(p)
        for _ in range(nit):
            pn = p.copy()
            p[1:-1, 1:-1] = (
                (pn[1:-1, 2:] + pn[1:-1, 0:-2]) * dy**2 + (pn[2:, 1:-1] + pn[0:-2, 1:-1]) * dx**2
            ) / (2 * (dx**2 + dy**2)) - dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b[1:-1, 1:-1]
            p[1:-1, -1] = (
                (pn[1:-1, 0] + pn[1:-1, -2]) * dy**2 + (pn[2:, -1] + pn[0:-2, -1]) * dx**2
            ) / (2 * (dx**2 + dy**2)) - dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b[1:-1, -1]
            p[-1, :] = p[-2, :]
            p[0, :] = p[1, :]

    def channel_flow(nit, u, v, dt, dx, dy, p, rho, nu, F):
        udiff = 1
        stepcount = 0
        while udiff > 0.001:
            un = u.copy()
            vn = v.copy()
            b = build_up_b(rho, dt, dx, dy, u, v)
            pressure(nit, p, dx, dy, b)
            u[1:-1, 1:-1] = (
                un[1:-1, 1:-1]
                - un[1:-1, 1:-1] * dt / dx * (un[1:-1, 1:-1] - un[1:-1, 0:-2])
                - vn[1:-1, 1:-1] * dt / dy * (un[1:-1, 1:-1] - un[0:-2, 1:-1])
                - dt / (2 * rho * dx) * (p[1:-1, 2:] - p[1:-1, 0:-2])
                + nu
                * (
                    dt / dx**2 * (un[1:-1, 2:] - 2 * un[1:-1, 1:-1] + un[1:-1, 0:-2])
                    + dt / dy**2 * (un[2:, 1:-1] - 2 * un[1:-1, 1:-1] + un[0:-2, 1:-1])
                )
                + F * dt
            )
            u[0, :] = 0
            u[-1, :] = 0
            v[0, :] = 0
            v[-1, :] = 0
            udiff = (np.sum(u) - np.sum(un)) / np.sum(u)
            stepcount += 1
        return stepcount

    return {name: f for name, f in locals().items() if callable(f)}


def arguments(name):
    """Arguments of a kernel, of a size at which NumPy takes some milliseconds."""
    r = onp.random.default_rng(0)
    if name in ("cholesky", "lu", "ludcmp"):
        n = 40
        a = onp.tril(r.random((n, n))) + onp.eye(n)
        a = a @ a.T
        return (a,) if name != "ludcmp" else (a, r.random(n))
    if name == "seidel_2d":
        return 6, 30, r.random((30, 30))
    if name == "syr2k":
        return 1.5, 1.2, r.random((30, 30)), r.random((30, 20)), r.random((30, 20))
    if name == "trmm":
        return 1.5, r.random((30, 30)), r.random((30, 40))
    if name == "nussinov":
        return 30, (onp.arange(30, dtype=onp.int32) + 1) % 4
    if name == "crc16":
        return (r.integers(0, 256, size=400, dtype=onp.uint8),)
    if name == "spmv":
        rows = onp.sort(r.integers(0, 200, 600))
        starts = onp.searchsorted(rows, onp.arange(201)).astype(onp.uint32)
        return starts, r.integers(0, 300, 600).astype(onp.uint32), r.random(600), r.random(300)
    if name == "contour_integral":

        def numbers(*shape):
            return r.random(shape) + 1j * r.random(shape)

        return 12, 20, 2, numbers(3, 12, 12), numbers(16), numbers(12, 20)
    if name == "channel_flow":

        def zeros():
            return onp.zeros((21, 21))

        return 5, zeros(), zeros(), 0.01, 0.1, 0.1, onp.ones((21, 21)), 1.0, 0.1, 1.0
    raise KeyError(name)


NAMES = [name for name in kernels(onp) if name not in ("match", "build_up_b", "pressure")]
