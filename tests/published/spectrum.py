import numpy as np

t = np.arange(128) / 128
signal = np.sin(2 * np.pi * 5 * t) + 0.5 * np.cos(2 * np.pi * 20 * t)
power = np.abs(np.fft.rfft(signal)) ** 2
print(np.fft.rfftfreq(128, 1 / 128)[np.argsort(power)[-2:]], power.max().round(4))
kept = np.fft.rfft(signal)
kept[10:] = 0
print(np.fft.irfft(kept)[:4].round(6))
