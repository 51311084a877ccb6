"""What `pyproject.toml` can't say: the part that is compiled, where there is a compiler; see
`npcompat/_internal/native/fast_path.py`.
"""

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
            extra_compile_args=["-std=c11"],
            optional=True,  # without it npcompat does the same, and is slower
        )
    ]
)
