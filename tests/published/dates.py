import numpy as np

month = np.arange("2016-07", "2016-08", dtype="datetime64[D]")
print(month[:3], len(month), np.is_busday(month).sum())
print(np.datetime64("2024-03-01") - np.datetime64("2024-02-01"))
