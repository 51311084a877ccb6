import numpy as np

x = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0], [2.0, 1.0], [1.0, 2.0]])
y = np.array([0, 1, 1, 0, 1, 0])
w, b = np.zeros((2, 2)), np.zeros(2)
for _ in range(300):
    z = x @ w + b
    p = np.exp(z - z.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    p[np.arange(len(y)), y] -= 1
    w -= 0.1 * x.T @ p
    b -= 0.1 * p.sum(axis=0)
print((x @ w + b).argmax(axis=1), w.round(4))
