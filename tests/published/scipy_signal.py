# needs: scipy
import numpy as np
from scipy import signal

b, a = signal.butter(3, 0.2)
x = np.sin(np.arange(40) * 0.2) + 0.3 * np.sin(np.arange(40) * 2.5)
y = signal.filtfilt(b, a, x)
print(y[::8].round(6), signal.find_peaks(x)[0][:3], signal.windows.hann(5).round(4))
