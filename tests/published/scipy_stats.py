# needs: scipy
import numpy as np
from scipy import spatial, stats

a, b = np.array([5.1, 4.9, 6.2, 5.8]), np.array([6.5, 7.1, 6.9, 7.4])
print(stats.ttest_ind(a, b).pvalue.round(6), stats.norm.cdf(np.array([0.0, 1.96])).round(5))
tree = spatial.cKDTree(np.array([[0.0, 0.0], [1.0, 1.0], [5.0, 5.0]]))
print(tree.query(np.array([0.9, 0.8]))[1], spatial.distance.pdist(np.eye(3)).round(5))
