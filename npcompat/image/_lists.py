"""Lists of images with labels: `.lst` files, and Python sequences."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as onp

from npcompat._internal.core.handle import Handle
from npcompat._internal.dispatch import handles
from npcompat._internal.support.errors import DataFileError

Entry = tuple[onp.ndarray[Any, Any], str]
"""Labels, float32 of one axis, and a path."""


def labelled(entry: Sequence[Any]) -> Entry:
    """Return labels and path of a sequence of labels (numbers or arrays) that ends with a path."""
    if len(entry) < 2 or not isinstance(entry[-1], str | os.PathLike):
        raise ValueError(f"expected labels and a path, got {entry!r}")
    labels = [
        handles.to_host(label) if isinstance(label, Handle) else label for label in entry[:-1]
    ]
    return onp.concatenate([onp.ravel(label) for label in labels]).astype("float32"), os.fspath(
        entry[-1]
    )


def read_list(path: str | os.PathLike[str]) -> dict[int, Entry]:
    """Read the entries of a `.lst` file, by number.

    Each line is a number, labels and a path, separated by tabs.
    """
    found: dict[int, Entry] = {}
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            words = line.strip().split("\t")
            if words == [""]:
                continue
            try:
                if len(words) < 3:
                    raise ValueError("too few words")
                found[int(words[0])] = onp.array(words[1:-1], dtype="float32"), words[-1]
            except ValueError as error:
                text = (
                    f"{os.fspath(path)}, line {number}: expected a number, labels and a path, "
                    f"parted by tabs, got {line.rstrip()!r}"
                )
                raise DataFileError(text) from error
    return found


__all__ = ["Entry", "labelled", "read_list"]
