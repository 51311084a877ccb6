"""Build the C fast path where there is a compiler; see `npcompat/_internal/native/fast_path.py`.

`NPCOMPAT_CFLAGS` adds options of the compiler, as continuous integration does with
`-Wall -Wextra -Werror`, and the sanitizers.
"""

import os
from glob import glob

import numpy
from setuptools import Extension, setup

setup(
    ext_modules=[
        Extension(
            "npcompat._internal.native._native",
            ["npcompat/_internal/native/_native.c"],
            depends=glob("npcompat/_internal/native/*.h"),
            include_dirs=[numpy.get_include()],
            extra_compile_args=["-std=c11", *os.environ.get("NPCOMPAT_CFLAGS", "").split()],
            extra_link_args=os.environ.get("NPCOMPAT_LDFLAGS", "").split(),
            optional="NPCOMPAT_CFLAGS" not in os.environ,  # without it, the slow path does the same
        )
    ]
)
