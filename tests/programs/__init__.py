"""Random programs: NumPy, the host, XLA, compiled and recorded must agree.

`python -m tests.programs --seed 1 --count 1000 --modes host,xla,compiled,gradients,state`
"""
