# needs: h5py
import h5py
import numpy as np

with h5py.File("memory.h5", "w", driver="core", backing_store=False) as file:
    data = file.create_dataset("x", data=np.arange(12).reshape(3, 4))
    data.attrs["scale"] = np.float64(0.5)
    into = np.zeros((3, 4), dtype=int)
    data.read_direct(into)
    print(into.sum(axis=0), data[1, :], data[np.array([True, False, True])], data.attrs["scale"])
