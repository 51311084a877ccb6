"""Random programs of arrays, run on NumPy and on npcompat: what they may do, by chapter
(`tests/unittest/test_state_machine.py` runs them).
"""
