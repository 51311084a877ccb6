import numpy as np


class NamedArray(np.ndarray):
    def __new__(cls, array, name="no name"):
        obj = np.asarray(array).view(cls)
        obj.name = name
        return obj

    def __array_finalize__(self, obj):
        if obj is not None:
            self.name = getattr(obj, "name", "no name")


z = NamedArray(np.arange(4), "range_4")
print(z.name, z[1:].name, z.sum())
