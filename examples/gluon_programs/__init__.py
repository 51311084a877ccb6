"""Five complete Gluon programs, trained eagerly, hybridized, and as one compiled step.

`python -m examples.gluon_programs` runs them and compares the modes.
"""

from examples.gluon_programs import autoencoder, detection, lenet, linear_regression, seq2seq

PROGRAMS = {
    "linear regression": linear_regression,
    "lenet": lenet,
    "seq2seq": seq2seq,
    "detection": detection,
    "autoencoder": autoencoder,
}

__all__ = ["PROGRAMS"]
