"""Schedulers: the same rates for numbers and for arrays, whose value a compiled step does not know."""

import math

import numpy as onp
import pytest

from npcompat import lr_scheduler, np, npx

SCHEDULERS = [
    (
        lr_scheduler.FactorScheduler(10, 0.5, stop_factor_lr=0.1, base_lr=1.0),
        {0: 1, 10: 1, 11: 0.5, 20: 0.5, 21: 0.25, 1000: 0.1},
    ),
    (
        lr_scheduler.MultiFactorScheduler([5, 8], 0.1, base_lr=1.0),
        {5: 1, 6: 0.1, 8: 0.1, 9: 0.01, 99: 0.01},
    ),
    (lr_scheduler.PolyScheduler(10, 1.0, 2, 0.5), {0: 1, 5: 0.625, 10: 0.5, 11: 0.5}),
    (lr_scheduler.CosineScheduler(10, 1.0, 0.5), {0: 1, 5: 0.75, 10: 0.5, 30: 0.5}),
    (
        lr_scheduler.CosineScheduler(10, 1.0, warmup_steps=4, warmup_begin_lr=0.2),
        {0: 0.2, 2: 0.6, 4: 1, 7: (1 + math.cos(math.pi / 2)) / 2, 10: 0},
    ),
    (
        lr_scheduler.FactorScheduler(
            10, 1, base_lr=1.0, warmup_steps=3, warmup_begin_lr=0.1, warmup_mode="constant"
        ),
        {2: 0.1, 3: 1},
    ),
]


@pytest.mark.parametrize(
    ("scheduler", "rates"), SCHEDULERS, ids=[type(s).__name__ for s, _ in SCHEDULERS]
)
def test_rates(scheduler, rates, backend):
    compiled = npx.jit(scheduler)
    for number, rate in rates.items():
        found = scheduler(number)
        assert isinstance(found, float)
        assert found == pytest.approx(rate, abs=1e-7)
        onp.testing.assert_allclose(scheduler(np.array(number)).item(), rate, rtol=1e-5, atol=1e-6)
        onp.testing.assert_allclose(compiled(np.array(number)).item(), rate, rtol=1e-5, atol=1e-6)


def test_wrong_arguments_are_errors():
    for make, text in (
        (lambda: lr_scheduler.FactorScheduler(0), "step must be at least 1"),
        (lambda: lr_scheduler.FactorScheduler(1, 2), "factor must be at most 1"),
        (lambda: lr_scheduler.MultiFactorScheduler([3, 2]), "ascending"),
        (lambda: lr_scheduler.CosineScheduler(0), "max_update must be"),
        (lambda: lr_scheduler.PolyScheduler(5, warmup_mode="square"), "warmup_mode must be"),
        (lambda: lr_scheduler.PolyScheduler(5, warmup_steps=-1), "warmup_steps must be"),
        (
            lambda: lr_scheduler.PolyScheduler(5, 0.1, warmup_begin_lr=0.2),
            "must not be less than warmup_begin_lr",
        ),
    ):
        with pytest.raises(ValueError, match=text):
            make()
    with pytest.raises(NotImplementedError, match="must define schedule"):
        lr_scheduler.LRScheduler()(1)
