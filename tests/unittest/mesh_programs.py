"""Programs of NumPy for arrays on a mesh, as the text that processes of their own run."""

ARRAYS = """
def write_rows(a, xp): a[1:5] = 3
def write_view_of_view(a, xp): a.T[1][2:4] += 2
def write_reshaped(a, xp): a.reshape(-1)[5:9] = xp.arange(4)
def write_mask(a, xp): a[a > 3] = 0
def write_positions(a, xp): a[xp.array([1, 3, 15])] = 5
def add_in_place(a, xp): a += xp.ones(3)
def multiply_in_place(a, xp): a *= 2
def write_every_third(a, xp): a[::3] = a[::3] * 2
def write_every_fifth_backwards(a, xp): a[::-5] *= xp.arange(3)
def write_diagonal(a, xp): xp.fill_diagonal(a[1:], a[0, 1])
def write_all(a, xp): a[...] = xp.zeros((16, 3))
def write_out(a, xp): xp.add(a, 1, out=a)
def sort_in_place(a, xp): a.sort(axis=0)
def swap_rows(a, xp): a[2], a[3] = a[3].copy(), a[2].copy()
def write_reversed(a, xp): a[:] = a[::-1].copy()
def write_item(a, xp): a[3, 1] = 7
def write_through_views(a, xp):
    v = a[2:10]
    v[1:3][:, 0] = 9
    return v
def part(a, xp): return a[1:7, 1:]
def positions(a, xp): return a[[1, 5, 15], [0, 1, 2]]
def sort(a, xp): return xp.sort(a, axis=0)
def argsort(a, xp): return xp.argsort(a, axis=0)
def cumsum(a, xp): return xp.cumsum(a, axis=0)
def iterate(a, xp): return xp.array([float(row.sum()) for row in a])
def item(a, xp): return [a[3, 1].item(), float(a[15, 2])]
def product(a, xp): return a.T @ a
def fourier(a, xp): return xp.fft.fft(a, axis=0).real + xp.fft.ifft2(a).imag
def fourier_of_a_vector(a, xp): return xp.fft.rfft(a[:, 0]).real.round(3)
def joined(a, xp): return xp.concatenate([a, a[:8]])
def rows_of_mask(a, xp): return xp.where((a[:, 0] > 0)[:, None], a, 0)
def shift_rows(a, xp): a[1:] = a[:-1]
def compare(a, xp): return [(a > 3).any(), (a == a).all(), xp.argmax(a), xp.count_nonzero(a > 0)]
def mask(a, xp): return a[a > 3]
def add_masked(a, xp): a[a[:, 1] > 0] += 1
def mask_of_rows(a, xp): return a[a[:, 0] > 0]
def nonzero(a, xp): return xp.nonzero(a > 3)[0]
def unique(a, xp): return xp.unique(a)
ARRAY_PROGRAMS = [f for name, f in list(globals().items()) if getattr(f, "__module__", 0) == __name__]
NEED_ALL_VALUES = [mask, add_masked, mask_of_rows, nonzero, unique]
assert len(ARRAY_PROGRAMS) >= 30
"""

NUMPY = """
def jacobi(np):
    u = np.zeros((512, 16))
    u[0] = 1.0
    u[:, -1] = 0.5
    for _ in range(20):
        u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    return u

def conjugate_gradients(np, a, b):
    n = len(b)
    a = (a + a.T) / 2 + 4 * n * np.eye(n)
    x = np.zeros(n)
    r = b - a @ x
    p = r.copy()
    rs = r @ r
    for _ in range(15):
        ap = a @ p
        alpha = rs / (p @ ap)
        x += alpha * p
        r -= alpha * ap
        new = r @ r
        p = r + (new / rs) * p
        rs = new
    return x

def black_scholes(np, s, k, t):
    def cdf(x):
        k = 1 / (1 + 0.2316419 * np.abs(x))
        poly = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
        w = 1 - 0.39894228 * np.exp(-x * x / 2) * poly
        return np.where(x < 0, 1 - w, w)
    d1 = (np.log(s / k) + (0.02 + 0.045) * t) / (0.3 * np.sqrt(t))
    d2 = d1 - 0.3 * np.sqrt(t)
    call = s * cdf(d1) - k * np.exp(-0.02 * t) * cdf(d2)
    call[call < 0] = 0
    return call

def k_means(np, points):
    centers = points[:4].copy()
    for _ in range(5):
        far = ((points[:, None, :] - centers[None]) ** 2).sum(-1)
        nearest = np.argmin(far, axis=1)
        for i in range(4):
            chosen = nearest == i
            centers[i] = np.where(chosen[:, None], points, 0).sum(0) / np.maximum(chosen.sum(), 1)
    return centers

def histogram(np, x):
    counts, edges = np.histogram(x, bins=16, range=(-4, 4))
    return counts + 0.0
"""
