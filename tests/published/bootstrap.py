import numpy as np

rng = np.random.default_rng(0)
x = rng.normal(3.0, 1.0, 400)
means = x[rng.integers(0, x.size, (1000, x.size))].mean(axis=1)
low, high = np.percentile(means, [2.5, 97.5])
print(low < x.mean() < high, abs(high - low - 0.2) < 0.06)
