"""Writes of single elements of the memory that is written, compiled, against NumPy's.

`python overlapping_elements.py`: prints what is wrong, and how many were tried.
"""

import numpy as onp

from npcompat import np, npx

NUMBERS = [6, 1, 4, 3, 3, 1, 6, 3, 2, 3, 5, 5]
ELEMENTS = """
(x * x)[4]
(x * x)[4:5]
(x * x)[k[0]]
(x * x)[k[:1]]
(x * x).sum().astype(x.dtype)
(x * x)[2:9].max()
(x * x)[4:8].sum(keepdims=True).astype(x.dtype)
x[x[2:9].argmax()] * x[0]
x[:4] @ x[4:8]
x[x[4].astype("int64")] * x[4]
x[4] * x[5]
n.take(x * x, 4)
n.cumsum(x, dtype=x.dtype)[4]
n.sort(x)[7]
n.where(x[4] > 2, x[4] * x[5], x[1])
""".strip().splitlines()
WRITES = """
x.reshape(3, 4)[:, 1:] = {}
x.reshape(3, 4).T[1:] = {}
x.reshape(3, 4)[:, 1:] += {}
x.reshape(3, 4).reshape(-1)[3:6] = {}
x.reshape(3, 4)[n.array([0, 1, 2])] = ({}) * n.ones((3, 1), x.dtype)
""".strip().splitlines()
READS = """
x.reshape(2, 2, 3) * n.ones((2, 2, 3), x.dtype)
(x.reshape(3, 4) * n.ones((3, 4), x.dtype)).sum(0)
""".strip().splitlines()


def run(space, write, read, x, k):
    names = {"n": space, "x": x, "k": k}
    exec(write, names)
    return eval(read, names)


def main():
    tried, wrong = 0, 0
    npx.set_np(dtype=True)
    for number, write in enumerate([w.format(e) for e in ELEMENTS for w in WRITES]):
        read, dtype = READS[number % 2], ("uint8", "float64")[number // 2 % 2]
        x, y = onp.array(NUMBERS, dtype), np.array(NUMBERS, dtype)
        expected = run(onp, write, read, x, onp.array([4, 2]))
        compiled = npx.jit(lambda y, k, write=write, read=read: run(np, write, read, y, k))
        found = compiled(y, np.array([4, 2]))
        tried += 1
        if found.tolist() != expected.tolist() or y.tolist() != x.tolist():
            wrong += 1
            print(f"{write}: {read}: {found.tolist()} instead of {expected.tolist()}")
    print(f"{tried} tried, {wrong} wrong")


if __name__ == "__main__":
    main()
