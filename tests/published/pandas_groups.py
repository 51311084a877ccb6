# needs: pandas
import numpy as np
import pandas as pd

frame = pd.DataFrame({"k": np.array(["a", "b", "a", "b", "c"]), "v": np.arange(5.0)})
print(frame.groupby("k")["v"].agg(["mean", "sum"]))
mask = np.array([True, False, True, False, True])
print(frame[mask], frame.loc[mask, "v"].to_numpy())
frame["w"] = np.where(frame["v"] > 2, 1, 0)
print(frame.pivot_table(values="v", index="k", columns="w", aggfunc="sum", fill_value=0))
