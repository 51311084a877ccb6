"""Curves of the examples: a PNG file, or an error before the training begins."""

import argparse
import sys

import pytest

from examples.curves import curves_file, draw


def test_curves_are_drawn_into_a_png_file(tmp_path):
    pytest.importorskip("matplotlib", reason="draws with matplotlib")
    path = curves_file(str(tmp_path / "curves.png"))
    draw(
        path,
        {
            "loss": {"training": [3.0, 2.0, 1.5, 1.2], "validation": [2.5, 1.0]},
            "accuracy": {"validation": [0.5, 0.9]},
        },
        "epoch",
    )
    content = path.read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n" and len(content) > 5000


def test_what_can_not_be_drawn_is_refused_at_once(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib", reason="draws with matplotlib")
    with pytest.raises(
        argparse.ArgumentTypeError,
        match=r"expected the name of a PNG file, which ends in \.png; got curves\.txt",
    ):
        curves_file("curves.txt")
    with pytest.raises(argparse.ArgumentTypeError, match="there is no folder .*nowhere"):
        curves_file(str(tmp_path / "nowhere" / "curves.png"))
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(
        argparse.ArgumentTypeError,
        match="matplotlib, which is not installed: pip install matplotlib",
    ):
        curves_file("curves.png")
