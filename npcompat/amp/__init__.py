"""Mixed precision: products in 16 bits, the rest in float32, and gradients scaled so that they do
not vanish in float16.

amp.init("bfloat16") # first of all: from now on, products are computed in 16 bits
amp.init_trainer(trainer) # for float16: the trainer leaves out steps whose gradients are not finite

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
