"""A noisy signal: filters of SciPy, a fit, and an integral; SciPy writes into an array that is given."""

import numpy as np
from scipy import integrate, ndimage, optimize, signal

time = np.linspace(0, 4, 400)
clean = np.sin(2 * np.pi * time)
noisy = clean + 0.3 * np.sin(2 * np.pi * 23 * time)

smooth = np.empty_like(noisy)
ndimage.gaussian_filter1d(noisy, 5, output=smooth)
print(
    "error before and after:",
    np.abs(noisy - clean).max().round(3),
    np.abs(smooth - clean).max().round(3),
)

b, a = signal.butter(3, 0.1)
filtered = signal.filtfilt(b, a, noisy)
print("filtered:", np.abs(filtered - clean)[50:-50].max().round(3))

peaks, _ = signal.find_peaks(filtered, height=0.5)
print("peaks at", time[peaks].round(2))


def model(t, height, frequency):
    return height * np.sin(2 * np.pi * frequency * t)


found, _ = optimize.curve_fit(model, time, filtered, p0=[0.8, 1.02])
print("fitted:", np.round(found, 3))
print("area of one arch:", round(integrate.simpson(clean[:51], x=time[:51]), 4))
