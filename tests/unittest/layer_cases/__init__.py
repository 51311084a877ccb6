"""Cases for every layer, by module; see case.py for what a case says."""

from layer_cases import losses, networks, recurrent, vision
from layer_cases.case import CASES

__all__ = ["CASES", "losses", "networks", "recurrent", "vision"]
