import io

import numpy as np

file = io.StringIO("1, 2, 3, 4, 5\n6, , , 7, 8\n, , 9,10,11\n")
print(np.genfromtxt(file, delimiter=",", dtype=int, filling_values=-1))
out = io.StringIO()
np.savetxt(out, np.arange(6).reshape(2, 3) / 4, fmt="%.2f", delimiter=";", header="a;b;c")
print(out.getvalue())
