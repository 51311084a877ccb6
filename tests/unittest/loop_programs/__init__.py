"""Programs with loops, branches and whiles, as people write them, and what becomes of each.

They lie here, and not in files of tests, as pytest rewrites the code of those.
"""

from loop_programs import flow, states, unstaged
from loop_programs.table import REFUSED, STAGED, UNROLLED

__all__ = ["REFUSED", "STAGED", "UNROLLED", "flow", "states", "unstaged"]
