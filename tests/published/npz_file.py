import io

import numpy as np

file = io.BytesIO()
np.savez(file, a=np.arange(3), b=np.eye(2))
file.seek(0)
with np.load(file) as data:
    print(sorted(data.files), data["a"] * 2, data["b"])
