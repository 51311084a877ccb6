# needs: scipy
import numpy as np
from scipy import optimize


def rosenbrock(x):
    return ((1 - x[:-1]) ** 2).sum() + 100 * ((x[1:] - x[:-1] ** 2) ** 2).sum()


found = optimize.minimize(rosenbrock, np.zeros(2), method="BFGS")
print(found.success, found.x.round(3))
x = np.linspace(0, 4, 20)
popt, _ = optimize.curve_fit(lambda x, a, b: a * np.exp(-b * x), x, 2.5 * np.exp(-1.3 * x))
print(popt.round(5), optimize.brentq(lambda v: np.cos(v) - v, 0, 1))
