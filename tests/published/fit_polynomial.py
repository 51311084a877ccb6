import numpy as np

x = np.linspace(-1, 1, 21)
y = 2 * x**3 - x + 0.5
print(np.polyfit(x, y, 3).round(8))
print(np.polynomial.Polynomial.fit(x, y, 3).convert().coef.round(8), np.poly1d([1, -3, 2]).roots)
