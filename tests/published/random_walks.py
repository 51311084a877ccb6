import numpy as np

rng = np.random.default_rng(1)
steps = rng.choice([-1, 1], size=(500, 100))
walks = steps.cumsum(axis=1)
spread = (walks[:, -1] ** 2).mean()
print(80 < spread < 120, set(np.unique(steps).tolist()), walks.shape)
