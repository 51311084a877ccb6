import numpy as np

a = np.arange(9).reshape(3, 3)
for index, value in np.ndenumerate(a):
    if index[0] == index[1]:
        print(index, value)
print([tuple(int(j) for j in i) for i in np.ndindex(2, 2)])
