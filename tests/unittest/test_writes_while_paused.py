"""Writes of recorded arrays while recording is paused: what is written is a constant, and the rest
keeps its history. The same writes by functions of `autograd.Function`.
"""

import pytest

from npcompat import autograd, errors, gluon, init, np, npx


def view_of_a_view(y, x):
    y[1:][::-1][0] = 9


def through_reshape(y, x):
    y.reshape(3, 1)[1, 0] = 4


def view(y, x):
    part = y[1:]
    part *= 3


def flat(y, x):
    y.flat[1] = 4


def item(y, x):
    y[0] = 5


def of_the_input(y, x):
    y[:2] = x[:2]


def items_in_a_loop(y, x):
    for i in range(2):
        y[i] = x[i]


def mask(y, x):
    y[y > 3] = 0


def selected(y, x):
    y[y > 3] = x[y > 3]


def positions(y, x):
    y[[0, 2]] = x[:2]


def putmask(y, x):
    np.putmask(y, y > 3, x)


def place(y, x):
    np.place(y, y > 3, x)


def put(y, x):
    np.put(y, [0, 2], x)


def put_along_axis(y, x):
    np.put_along_axis(y, np.array([0]), 5.0, 0)


def copyto(y, x):
    np.copyto(y, x, where=y > 3)


def out_where(y, x):
    np.add(x, 1.0, out=y, where=y > 3)


WRITES = {
    item: [1, 2],
    view: [0],
    view_of_a_view: [0, 1],
    through_reshape: [0, 2],
    flat: [0, 2],
    of_the_input: [2],
    items_in_a_loop: [2],
    mask: [0],
    selected: [0],
    positions: [1],
    putmask: [0],
    place: [0],
    put: [1],
    put_along_axis: [1, 2],
    copyto: [0],
    out_where: [0],
}
"""Ways to write into the squares of [1, 2, 3], and the elements that are left."""


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("write", WRITES, ids=lambda f: f.__name__)
def test_what_is_not_written_keeps_its_gradient(placed, write, compiled):
    x = np.array([1.0, 2.0, 3.0])
    x.attach_grad()

    def loss(x):
        y = x * x
        with autograd.pause():
            write(y, x)
        return (y * y).sum()

    with autograd.record():
        total = (npx.jit(loss) if compiled else loss)(x)
    total.backward()
    wanted = [4.0 * v**3 if i in WRITES[write] else 0.0 for i, v in enumerate([1.0, 2.0, 3.0])]
    assert x.grad.tolist() == wanted


@pytest.mark.parametrize("compiled", [False, True])
def test_a_whole_array_that_is_written_is_a_constant(placed, compiled):
    x = np.array([1.0, 2.0])
    x.attach_grad()

    def loss(x):
        y, z, w = x * x, x * x, x * x
        with autograd.pause():
            y += 1
            z[...] = x
            np.add(x, 1.0, out=w)
        return (y * y + z * z + w * w + x).sum()

    with autograd.record():
        total = (npx.jit(loss) if compiled else loss)(x)
    total.backward()
    assert x.grad.tolist() == [1, 1]


def test_outside_of_record_a_write_ends_the_history(placed):
    x = np.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        y = x * x
    y[0] = 5
    with pytest.raises(errors.AutogradError):
        y.backward()
    with autograd.pause():  # nothing is interrupted
        y[1] = 6
    assert y.tolist() == [5, 6]


class Square(autograd.Function):
    def forward(self, x):
        self.save_for_backward(x, 2)
        return x * x

    def backward(self, given):
        x, factor = self.saved_tensors
        return factor * x * given


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("part", [slice(None), slice(1, None)])
def test_what_a_function_saved_is_as_it_was(placed, compiled, part):
    x = np.array([1.0, 2.0, 3.0])
    x.attach_grad()

    def loss(x):
        y = x * 1
        z = Square()(y[part])
        y[...] = 0
        return z.sum()

    with autograd.record():
        total = (npx.jit(loss) if compiled else loss)(x)
    total.backward()
    assert x.grad.tolist() == ([2.0, 4.0, 6.0] if part == slice(None) else [0.0, 4.0, 6.0])


@pytest.mark.parametrize("part", [slice(None), slice(1, None)])
def test_what_a_function_saved_has_its_history(placed, part):
    x = np.array([1.0, 2.0, 3.0])
    x.attach_grad()
    with autograd.record():
        first = autograd.grad(Square()((x * x)[part]).sum(), x, create_graph=True)
        loss = first.sum()
    loss.backward()
    assert x.grad[1:].tolist() == [48.0, 108.0]


def test_a_function_that_writes_its_recorded_input_is_refused(placed):
    class Moved(autograd.Function):
        def forward(self, x):
            x += 1
            return x * 2

        def backward(self, given):
            return 2 * given

    x = np.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        y = x * 1
        with pytest.raises(errors.AutogradError, match="Moved: forward writes its input 0"):
            Moved()(y)
        loss = (y * 10).sum()
    loss.backward()
    assert y.tolist() == [1, 2] and x.grad.tolist() == [10, 10]
    assert Moved()(np.array([1.0])).tolist() == [4]


class Clipped(gluon.HybridBlock):
    """A block that writes its parameter while recording is paused."""

    def __init__(self):
        super().__init__()
        self.weight = gluon.Parameter("weight", shape=(2,), init=init.Constant(4.0))

    def forward(self, x):
        with autograd.pause():
            weight = self.weight.data()
            np.clip(weight, -1, 1, out=weight)
        return (self.weight.data() ** 2 * x).sum()


def test_a_variable_stays_one_or_is_refused_where_a_trace_is_recorded(placed):
    net, x = Clipped(), np.array([1.0, 10.0])
    net.initialize()
    with autograd.record():
        loss = net(x)
    loss.backward()
    assert net.weight.grad().tolist() == [2, 20]

    def step(x):
        with autograd.record():
            loss = net(x)
        loss.backward()

    npx.jit(step)(x)  # recorded within: the variable is known there
    assert net.weight.grad().tolist() == [2, 20]
    net.hybridize()
    assert float(net(x)) == 11
    with autograd.record(), pytest.raises(errors.RefusedError, match="a variable is written"):
        net(x)


def branch(y):
    if y[1] > 2:
        y[0] = 5


def condition(y):
    npx.cond(y[1] > 2, lambda: y.__setitem__(0, 5), lambda: None)


@pytest.mark.parametrize("write", [branch, condition])
def test_writes_of_branches_and_programs_are_refused(placed, write):
    x = np.array([1.0, 2.0, 3.0])
    x.attach_grad()

    def loss(x):
        y = x * x
        with autograd.pause():
            write(y)
        return (y * y).sum()

    with autograd.record(), pytest.raises(errors.RefusedError, match="a loop, a branch or a comp"):
        npx.jit(loss)(x)
    compiled = npx.jit(branch)
    with autograd.record():
        y = x * x
        for program in (compiled, npx.jit(lambda y: y.__setitem__(0, 5))):
            kinds = errors.AutogradError, errors.RefusedError
            with autograd.pause(), pytest.raises(kinds, match="a loop, a branch or a compiled"):
                program(y)
        total = y.sum()
    total.backward()
    assert y.tolist() == [1, 4, 9] and x.grad.tolist() == [2, 4, 6]
    compiled(y)
    assert y.tolist() == [5, 4, 9]


def test_recording_that_is_set_within_pause_records(placed):
    x = np.array([1.0, 2.0, 3.0])
    x.attach_grad()
    with autograd.record():
        y = x * 1
        with autograd.pause():
            autograd.set_recording(True)
            y[0] = x[1] * 5
            y[1:] = x[1:] * 7
        total = y.sum()
    total.backward()
    assert x.grad.tolist() == [0, 12, 7]


def test_a_function_may_make_a_variable_of_its_input(placed):
    class Inner(autograd.Function):
        def forward(self, x):
            x.attach_grad()
            with autograd.record():
                z = (x * x).sum()
            z.backward()
            return x * 2

        def backward(self, given):
            return 2 * given

    x = np.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        loss = Inner()(x * 1).sum()
    loss.backward()
    assert x.grad.tolist() == [2, 2]
