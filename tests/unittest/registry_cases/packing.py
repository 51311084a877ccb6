"""Cases of bits packed into bytes, and of the order of bytes."""

import numpy as onp

from npcompat._internal.core.op import REGISTRY
from npcompat._internal.dispatch.apply import apply
from registry_cases.case import ALL, INTS, case

case("_npi_packbits", lambda xp, a: xp.packbits(a), "2,3,3 bits", dtypes=INTS, bad=(([1.0, 0.0],),))
case(
    "_npi_packbits",
    lambda xp, a: xp.packbits(a, axis=-2, bitorder="little"),
    "2,9,2 bits",
    dtypes="? b L",
    layouts=("ordinary", "view"),
)
case("_npi_unpackbits", lambda xp, a: xp.unpackbits(a), "2,3 index256 uint8", bad=(([1.0, 0.0],),))
case(
    "_npi_unpackbits",
    lambda xp, a: (
        xp.unpackbits(a, axis=0),
        xp.unpackbits(a, axis=-1, count=11, bitorder="little"),
        xp.unpackbits(a, axis=1, count=-3),
        xp.unpackbits(a, axis=1, count=99),
    ),
    "2,3 index256 uint8",
    layouts=("ordinary", "view"),
)
case(
    "_npi_byteswap",
    lambda xp, a: apply(REGISTRY["_npi_byteswap"], (a,)),
    "2,3 bits",
    oracle=lambda a: onp.asarray(a).byteswap(),
    dtypes=ALL,
    loose=0,
)
