# needs: sklearn
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

x = np.stack([np.sin(np.arange(40.0)), np.cos(np.arange(40.0) * 2)], axis=1)
y = (x[:, 0] + 0.3 * x[:, 1] > 0).astype(int)
model = make_pipeline(StandardScaler(), LogisticRegression())
print(cross_val_score(model, x, y, cv=4).mean().round(4), model.fit(x, y).predict(x[:5]))
