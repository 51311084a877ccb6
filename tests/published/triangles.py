import numpy as np

faces = np.array([[0, 1, 2], [1, 2, 3], [0, 2, 3]])
edges = np.roll(faces.repeat(2, axis=1), -1, axis=1).reshape(-1, 2)
edges = np.sort(edges, axis=1)
print(np.unique(edges, axis=0, return_counts=True))
