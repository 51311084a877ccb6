"""Automatic mixed precision: products in 16 bits, the rest in float32, loss scaling.

`init` comes first: products are computed in 16 bits from then on. float16 needs loss scaling, by
which the trainer also skips steps with gradients that are not finite:

    amp.init("float16")
    amp.init_trainer(trainer)

    with autograd.record():
        loss = loss_of(net(x), y)
        with amp.scale_loss(loss, trainer) as scaled:
            autograd.backward(scaled)
    trainer.step(batch_size)
"""

from npcompat.amp import _conversion, _operators, _scaling
from npcompat.amp._conversion import *
from npcompat.amp._operators import *
from npcompat.amp._scaling import *

__all__ = []
__all__ += _conversion.__all__
__all__ += _operators.__all__
__all__ += _scaling.__all__
