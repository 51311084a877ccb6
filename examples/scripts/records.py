"""Tables: records, groups, sorting by several keys, a file of text, and dates."""

import io

import numpy as np

table = np.genfromtxt(
    io.StringIO(
        "city,day,rain\nParis,2024-03-01,2.5\nOslo,2024-03-01,0\nParis,2024-03-02,0\nOslo,2024-03-03,7.25\n"
    ),
    delimiter=",",
    names=True,
    dtype="U10,M8[D],f8",
)
print(table.dtype.names, len(table))
cities, which = np.unique(table["city"], return_inverse=True)
total = np.zeros(len(cities))
np.add.at(total, which, table["rain"])
for city, rain in zip(cities, total, strict=True):
    print(f"{city:>8} {rain:6.2f}")
order = np.lexsort((table["day"], table["city"]))
print(table["day"][order])
print(
    "days:", np.diff(np.unique(table["day"])).astype(int), "rainy:", np.count_nonzero(table["rain"])
)

values = np.array([3.0, np.nan, 1.0, 2.0])
print(np.nanmean(values), np.nan_to_num(values), np.argsort(values))
kept = np.ma.masked_invalid(values)
print(kept.sum(), kept)
