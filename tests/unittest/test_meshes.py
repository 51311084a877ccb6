"""Arrays on a mesh of several devices, in a process with eight that XLA simulates on the CPU."""

import pytest
from mesh_programs import ARRAYS as ARRAY_PROGRAMS
from mesh_programs import NUMPY
from several_devices import run_on_devices

ARRAYS = {
    "views and writes are those of NumPy, and keep the place": """
        for f in ARRAY_PROGRAMS:
            for spec in (("data",), ()):
                h = onp.arange(48, dtype="float32").reshape(16, 3)[::-1] * 1.5 - 7
                a = npx.shard(np.array(h), mesh, *spec)
                h = h.copy()
                expected, found = f(h, onp), f(a, np)
                assert a.device == mesh(*spec), (f.__name__, spec, a.device)
                onp.testing.assert_allclose(a.asnumpy(), h, rtol=1e-6, err_msg=f.__name__)
                if expected is not None:
                    onp.testing.assert_allclose(onp.asarray(found), expected, rtol=1e-5)
    """,
    "nan is the extreme of arrays in pieces, and complex numbers have one": """
        h = onp.arange(24.0).reshape(8, 3) % 7
        h[2, 1] = h[7, 0] = onp.nan
        extremes = [
            lambda a, xp: xp.max(a), lambda a, xp: xp.min(a, axis=0, keepdims=True),
            lambda a, xp: xp.ptp(a, axis=0), lambda a, xp: xp.nanmax(a, axis=0),
            lambda a, xp: xp.maximum.reduce(a), lambda a, xp: xp.max(a, 0, initial=3, where=a != 0),
            lambda a, xp: xp.linalg.norm(abs(a), xp.inf, axis=0), lambda a, xp: xp.argmin(a, axis=0),
        ]
        for dtype in ("float32", "float64", "complex128"):
            given = h.astype(dtype)
            given[0] += 1j if dtype[0] == "c" else 0
            a = np.array(given, device=mesh("data"))
            assert a.device == mesh("data")
            for number, extreme in enumerate(extremes):
                for run in (extreme, npx.jit(extreme, static_argnums=1)):
                    found, expected = onp.asarray(run(a, np)), onp.asarray(extreme(given, onp))
                    assert found.dtype == expected.dtype, (dtype, number)
                    onp.testing.assert_array_equal(found, expected, err_msg=f"{dtype} {number}")
        a.attach_grad()
        b = np.array(h, device=mesh("data"))
        b.attach_grad()
        with autograd.record():
            np.max(b, axis=0)[2].backward()
        assert b.grad[:, 2].sum() == 1 and b.grad.device == mesh("data")
    """,
    "an array prints, converts and pickles": """
        import pickle
        h = onp.arange(16.0, dtype="float32").reshape(8, 2)
        a = npx.shard(np.array(h), mesh, "data")
        assert str(a) == str(h) and a.tolist() == h.tolist()
        assert (onp.asarray(a) == h).all() and pickle.loads(pickle.dumps(a)).tolist() == h.tolist()
        assert a.device == mesh("data")
    """,
    "the place is that of what is written": """
        whole, cut = mesh(), mesh("data")
        a = np.zeros((16, 3)).to_device(whole)
        a += npx.shard(np.ones((16, 3)), mesh, "data")
        assert a.device == whole and (a == 1).all()
        b = np.zeros((16, 3)).to_device(npx.cpu(0))
        b[:] = a
        assert b.device == npx.cpu(0) and (b == 1).all()
        c = npx.shard(np.ones((16, 3)), mesh, "data")
        c[...] = b * 2
        assert c.device == cut and (c == 2).all()
        d = np.ones((16, 3)).to_device(npx.cpu(1))
        d[...] = c
        assert d.device == npx.cpu(1) and (d == 2).all()
        for other in (npx.shard(np.ones(16), mesh, "data"), np.ones(16).to_device(npx.cpu(1))):
            on_host = np.ones(16)
            on_host += other
            np.multiply(on_host, other, out=on_host, where=other > 0)
            assert on_host.device == npx.cpu(0) and on_host.sum() == 32
        grid = npx.Mesh(data=4, model=2)
        e = npx.shard(np.ones((8, 4)), grid)
        e[e > 0] += npx.shard(np.ones((8, 4)), mesh, "data")[0, 0]
        assert e.device == grid() and (e == 2).all() and e.to_device(whole).device == whole
        f = npx.shard(np.arange(16).reshape(16, 1), mesh, "data")
        @npx.jit
        def fill():
            g = f[2:5] + 1
            f.fill(7)
            return g
        assert fill().sum() == 12 and f.device == cut and (f == 7).all()
    """,
    "constants of a compiled function take the layout that it names": """
        makers = {
            "zeros": lambda **kw: np.zeros(16, **kw),
            "a list": lambda **kw: np.array([1.0, 2.0] * 8, **kw),
            "a range and what is computed of it": lambda **kw: np.arange(16, **kw) * 2 + 1,
            "large": lambda **kw: np.ones((2**14, 2), **kw),
        }
        cut = mesh("data")
        for name, make in makers.items():
            expected = make()
            for f in (lambda: make(device=cut), lambda x: (make(device=cut), x)[0]):
                found = npx.jit(f)(*[np.ones(3)] * f.__code__.co_argcount)
                assert found.device == cut and (found == expected).all(), (name, found.device)
            f = npx.jit(make)
            assert f().device == npx.cpu(0), name
            with cut:
                assert f().device == cut and (f() == expected).all(), name
            assert f().device == npx.cpu(0), name
        with cut:
            assert np.random.permutation(16).device == cut
            assert np.random.choice(32, 16, replace=False).device == cut
            assert np.random.choice(np.arange(32), (16, 2), replace=False).device == cut
            rows = np.random.default_rng(0).choice(16, 16, replace=False)
            assert rows.device == cut and (np.sort(rows) == np.arange(16)).all()
    """,
    "operands on one device of the mesh join it": """
        a = npx.shard(np.ones((16, 2)), mesh, "data")
        one = np.full((16, 2), 3.0).to_device(npx.cpu(1))
        assert ((one * a).sum() == 96) and isinstance((one * a).device, npx.Sharding)
        for f in (npx.jit(lambda x: a * x), npx.jit(lambda x: npx.shard(x, mesh, "data") * 1)):
            for x in (one, one, one, one + 0, a, one):  # from the third call on by the fast path
                assert isinstance(f(x).device, npx.Sharding) and f(x).sum() in (96, 32)
        state = np.zeros((16, 2)).to_device(npx.cpu(1))
        @npx.jit
        def add(x):
            state[...] += npx.shard(x, mesh, "data")
        for x in (one, a, one):
            add(x)
        assert state.device == mesh() and (state == 7).all()
        a.attach_grad()
        with autograd.record():
            loss = (one * a * a).sum()
        loss.backward()
        assert a.grad.device == mesh("data") and (a.grad == 6).all()
    """,
    "a compiled write at positions of a concatenation goes where it should": """
        h = onp.arange(64, dtype="float32").reshape(16, 4)
        @npx.jit
        def f(x):
            both = np.vstack([x, x * 2])
            both[np.array([-15]), [3]] *= 2
            return both
        expected = onp.vstack([h, h * 2])
        expected[-15, 3] *= 2
        assert (f(npx.shard(np.array(h), mesh, "data")) == expected).all()
    """,
    "operands of meshes of the same devices come together": """
        grid = npx.Mesh(data=4, model=2)
        a = npx.shard(np.ones((8, 5)), mesh, "data")
        b = npx.shard(np.ones((4, 8, 1)), grid, "data", "model")
        for f in (np.add, np.equal, npx.jit(np.add)):
            assert f(a, b).shape == f(b, a).shape == (4, 8, 5) and (f(a, b) == f(1, 1)).all()
    """,
    "new arrays of a compiled function lie as the context says": """
        half, total = npx.Mesh([npx.cpu(0), npx.cpu(1)]), 2**14
        @npx.jit
        def f():
            return np.zeros(total) + np.arange(total)
        with npx.compile_log() as log:
            for where in (None, mesh("data"), mesh("data"), half("data"), None):
                with where or npx.cpu(0):
                    y = f()
                assert y.device == (where or npx.cpu(0)) and y[5] == 5
        assert [entry.name for entry in log if entry.name == "f"] == ["f"] * 3
        held, count = np.zeros(total), np.ones(())
        @npx.jit
        def g(x):
            held[...] = np.arange(total) * count + x
            count[...] += 1
            return np.ones(total) * x
        with mesh("data"):
            for i in range(3):
                assert g(np.array(1.0)).device == mesh("data") and held[3] == 3 * i + 4
        assert held.device == count.device == mesh() and g(np.ones(()).to_device(npx.cpu(0))).sum() == total
        @npx.jit
        def within(x):
            with mesh("data"):
                return np.ones((128, 64)) + x
        with npx.compile_log() as log:
            assert {within(np.ones(64)).device for _ in range(2)} == {mesh("data")}
        assert sum(entry.name == "within" for entry in log) == 1
    """,
    "shard is a constraint inside a compiled function": """
        @npx.jit
        def f(x):
            y = npx.shard(x * 2, mesh, "data")
            return y.sum(0), y
        total, y = f(np.ones((16, 2)))
        assert y.device == mesh("data") and total.tolist() == [32, 32] and (y == 2).all()
        for n in (16, 2**14):
            made = npx.jit(lambda: npx.shard(np.ones(n), mesh, "data") * 2)()
            assert made.device == mesh("data") and made.sum() == 2 * n
    """,
    "a compiled function keeps the place of what it writes": """
        state = npx.shard(np.zeros((16, 2)), mesh, "data")
        count = np.zeros(())
        grad_of = npx.shard(np.ones((16, 2)), mesh, "data")
        grad_of.attach_grad()
        @npx.jit
        def step(x):
            state[1:3] += x.sum()
            state[...] = state.T.T + 1
            count[...] += 1
            with autograd.record():
                loss = (grad_of * grad_of * x.sum()).sum()
            loss.backward()
            return loss
        with npx.compile_log() as log:
            for _ in range(4):
                step(np.ones(3))
        assert state.device == mesh("data") and grad_of.grad.device == mesh("data")
        assert count == 4 and state[1, 0] == 16 and state[0, 0] == 4
        assert sum(entry.name == "step" for entry in log) == 1, log
    """,
    "meshes are made of names, devices and meshes of JAX": """
        assert npx.Mesh(data=4, model=2).axes == {"data": 4, "model": 2}
        assert npx.Mesh(data=-1, model=2).axes == {"data": 4, "model": 2}
        assert npx.Mesh().axes == {"data": 8} and npx.Mesh(mesh.jax) == mesh
        two = npx.Mesh([npx.cpu(1), npx.cpu(0)])
        assert two.size == 2 and two.axes == {"data": 2} and two != mesh
        assert mesh("data", None) == mesh("data") != mesh() and len({mesh("data"), mesh(("data",))}) == 1
        assert repr(mesh("data", None)) == "Mesh(data=8)('data', None)"
        a = np.ones((8, 2), ctx=mesh("data"))
        assert a.device == a.ctx == mesh("data") and a.ctx.device_type == "cpu"
        assert np.ones(3).to_device([npx.cpu(0), npx.cpu(1)]).device.mesh.size == 2
        both = npx.Mesh(data=4, model=2)
        b = npx.shard(np.arange(16.0).reshape(8, 2), both, "data", "model")
        assert b.device == both("data", "model") and b.sum() == 120
        assert npx.shard(b, both, ("data", "model")).tolist() == b.tolist()
    """,
    "mistakes are named": """
        import re
        def fails(f, text, kind=ValueError):
            try:
                f()
            except kind as error:
                assert re.search(text, str(error)), error
            else:
                raise AssertionError(f"no error: {text}")
        fails(lambda: npx.shard(np.ones(5), mesh, "data"), "axis 0 has 5 elements for 8 pieces")
        fails(lambda: npx.shard(np.ones(16), mesh, "dat"), "'dat' is no axis of Mesh.data=8")
        fails(lambda: npx.shard(np.ones(16), mesh, None, "data"), "fewer axes than the layout")
        fails(lambda: mesh("data", "data"), "cuts two axes")
        fails(lambda: npx.Mesh(data=3, model=3), "8 devices can't be arranged so")
        fails(lambda: npx.Mesh(data=-1, model=-1), "one may be -1")
        fails(lambda: npx.Mesh(mesh.jax, data=8), "has axes already", TypeError)
        fails(lambda: np.ones(3, device=3), "expected a Device, a name", TypeError)
        fails(lambda: npx.Mesh(8), r"got int; axes are named: npx.Mesh.data=8", TypeError)
        fails(lambda: npx.Mesh({"data": 8}), "expected a list of devices", TypeError)
        fails(lambda: npx.Mesh(["cpu(0)"]), "expected devices as npx.cpu.0., got 'cpu.0.'", TypeError)
        fails(lambda: npx.Mesh([npx.cpu(0), npx.cpu(0)]), "cpu.0. is there twice")
        fails(lambda: npx.Mesh([]), "at least one device")
        fails(lambda: npx.Mesh(data=8.0), "must be integers", TypeError)
        assert npx.Mesh(data=onp.int64(8)) == mesh
        fails(lambda: mesh.__enter__(), "with mesh.'data'.:", TypeError)
        fails(lambda: npx.shard(np.ones(8), mesh, 0), "the name of an axis .* got 0", TypeError)
        fails(lambda: npx.shard(np.ones((8, 2)), mesh, ("data", None)), "a tuple of names", TypeError)
        fails(lambda: npx.shard(np.ones(8), "data"), "expected a Mesh or a Sharding, got str", TypeError)
        fails(lambda: npx.shard(np.ones(8), mesh("data"), "data"), "is a layout already", TypeError)
        assert npx.shard(np.ones(8), mesh("data")).device == mesh("data")
        import pickle
        for held in (mesh, mesh("data")):
            fails(lambda: pickle.dumps(held), "can't be pickled", TypeError)
        two = npx.shard(np.ones(8), npx.Mesh([npx.cpu(0), npx.cpu(1)]))
        apart = r"shape .8,. on cpu .0, 1, 2, 3, 4, 5, 6, 7. and shape .8,. on cpu .0, 1.; move one"
        for f in (np.add, npx.jit(lambda a, b: a + b)):
            fails(lambda: f(npx.shard(np.ones(8), mesh), two), apart)
        within = r"shape .8,. on cpu .0, 1. and what the function lays out on cpu .0, 1, 2"
        fails(lambda: npx.jit(lambda a: npx.shard(a, mesh, "data"))(two), within)
        fails(lambda: npx.Sharding("data"), "expected a Mesh, got str", TypeError)
        fails(lambda: npx.Sharding(mesh, "data"), "spec: expected a tuple of axes", TypeError)
        fails(lambda: npx.Sharding(mesh, None), "spec: expected a tuple of axes", TypeError)
        for f in (npx.Sharding, lambda m: npx.shard(two, m), gluon.nn.Dense(8).shard):
            fails(lambda: f(mesh.jax), "got a mesh of JAX's; npx.Mesh.mesh. makes one", TypeError)
        assert npx.Mesh(mesh) == mesh
        fails(lambda: npx.show_sharding(two, ax=3), "expected axes of matplotlib, got int", TypeError)
        fails(lambda: npx.show_sharding(gluon.nn.Dense(8)), "got Dense; .* p.data()", TypeError)
        fails(lambda: npx.jit(npx.show_sharding)(two), "show what it returns", TypeError)
        split = gluon.utils.split_and_load
        fails(lambda: split(two, mesh), "expected a list of devices, got Mesh", TypeError)
        fails(lambda: split(two, []), "expected a list of devices, got ..;", TypeError)
        fails(lambda: split(np.ones(()), [npx.cpu(0)]), "axis 0 is out of bounds")
        net = gluon.nn.Dense(8, in_units=4)
        fails(lambda: net.shard(mesh, {"weigth": "data"}), "'weigth' is found in the name of no")
        fails(lambda: net.shard(mesh, [("weight", "data")]), "expected a dict of patterns", TypeError)
        fails(lambda: net.shard(mesh, {"weight": 0}), "rule 'weight': .* got 0")
        fails(lambda: net.shard(mesh, fsdp=["data"]), "fsdp: expected the name of an axis", TypeError)
        fails(lambda: net.shard(mesh, fsdp="data", least=None), "expected a number of el", TypeError)
        net.initialize()
        fails(lambda: net.reset_device(mesh(None, "data")), "reset_device: parameter weight of shape")
        assert net.weight.data().device == net.bias.data().device == npx.cpu(0)
        later = gluon.nn.Dense(8)
        later.initialize(device=mesh)
        again = pickle.loads(pickle.dumps(later))  # as of one with values, without the place
        assert later(np.ones((2, 3))).device == mesh() and again(np.ones((2, 3))).shape == (2, 8)
    """,
    "new arrays like another lie as it does": """
        a = npx.shard(np.ones((16, 3)), mesh, "data")
        for like in (np.zeros_like, np.ones_like, np.empty_like, lambda a, **k: np.full_like(a, 2, **k)):
            assert like(a).device == mesh("data") and like(a.T).device == mesh(None, "data")
            assert like(a, shape=(5, 3)).device == mesh()
            assert like(a, device=npx.cpu(2)).device == npx.cpu(2)
            assert like(np.ones(3).to_device(npx.cpu(1))).device == npx.cpu(1)
            assert like(np.ones(3)).device == npx.cpu(0)
            with mesh("data"):
                assert like(onp.ones(16)).device == mesh("data")
    """,
    "a large array of one value is made in pieces": """
        import resource
        def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        with mesh("data"):
            np.ones(2**22 + 8)
            before = peak()
            made = np.full((2**23, 2), 3)
        assert peak() - before < made.nbytes * 1.5, (before, peak())
        assert made.device == mesh("data") and made.dtype == onp.int64 and (made[5] == 3).all()
    """,
    "compiled writes of rows gather nothing, with any layout of what is written": """
        import jax
        @npx.jit
        def sweep(u):
            for _ in range(rounds):
                u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        values = onp.random.default_rng(0).normal(size=(64, 32))
        compiled = 0
        for rounds in (3, 50):
            expected = values.copy()
            for _ in range(rounds):
                expected[1:-1, 1:-1] = 0.25 * (
                    expected[:-2, 1:-1] + expected[2:, 1:-1] + expected[1:-1, :-2] + expected[1:-1, 2:]
                )
            for _ in range(2):
                for place in (mesh("data"), mesh(None, "data"), npx.cpu(0)):
                    u = np.array(values).to_device(place)
                    sweep(u)
                    assert u.device == place
                    onp.testing.assert_allclose(u.asnumpy(), expected, 1e-12)
        programs = [e.hlo_modules()[0].to_string() for e in jax.devices()[0].client.live_executables()]
        programs = [text for text in programs if text.startswith("HloModule jit_sweep,")]
        assert len(programs) == 6, len(programs)
        assert not any("all-gather" in text for text in programs)
        assert sum("num_partitions=8" in text for text in programs) == 4
    """,
    "any and all of masks are counts on several devices": """
        @npx.jit
        def both(m):
            return m.any(), m.all(), m.any(0), m.all(1)
        for mask in (onp.zeros((16, 3), bool), onp.ones((16, 3), bool), onp.eye(16, 3) > 0):
            for place in (mesh("data"), npx.cpu(0)):
                found = both(np.array(mask).to_device(place))
                expected = mask.any(), mask.all(), mask.any(0), mask.all(1)
                for a, b in zip(found, expected, strict=True):
                    assert a.dtype == bool and (a.asnumpy() == b).all()
    """,
    "new arrays lie where the context says, draws in pieces": """
        with npx.backend("jax"):
            np.random.seed(3)
            alone = np.random.normal(size=(64, 4))
        np.random.seed(3)
        with mesh("data"):
            drawn = np.random.normal(size=(64, 4))
            assert np.linspace(0, 1, 16).device == np.logspace(0, 1, 16).device == mesh("data")
            places = [np.zeros(16).device, np.arange(16).device, np.array([1.0] * 8).device]
            small = np.zeros(5).device, np.array(3.0).device
            drawn[3] = 1
        assert drawn.device == mesh("data") and set(places) == {mesh("data")}
        assert set(small) == {mesh()}
        alone[3] = 1
        assert (drawn == alone).all()
        assert np.random.normal(size=3).device == npx.cpu(0)
        assert np.linspace(0, 1, 5, device=npx.cpu(1)).device == npx.cpu(1)
        import copy
        net = gluon.nn.Dense(16, in_units=8)
        net.initialize()
        net.shard(mesh, fsdp="data", least=8)
        again = copy.deepcopy(net)
        again.weight.data()[:] = 0
        assert again.weight.data().device == again.weight.grad().device == mesh("data")
        assert abs(net.weight.data()).sum() > 0
    """,
}
ON_A_MESH = """
        random = onp.random.default_rng(0)
        cases = {
            jacobi: [],
            conjugate_gradients: [random.normal(size=(128, 128)), random.normal(size=128)],
            black_scholes: [random.uniform(5, 30, 8192) * k for k in (1.0, 2.0, 0.3)],
            k_means: [random.normal(size=(1024, 3))],
            histogram: [random.normal(size=8192)],
        }
        def program_of(name):
            # HLO of the last program of this name, which says what one device computes
            found = [e.hlo_modules()[0].to_string() for e in jax.devices()[0].client.live_executables()]
            return [text for text in found if text.startswith(f"HloModule jit_{name},")][-1]
        def elements_of_arrays(hlo):
            shapes = re.findall(r"\\b(?:pred|bf16|[sufc]\\d+)\\[([\\d,]+)\\]", hlo)
            return [math.prod(map(int, shape.split(","))) for shape in shapes]
        def watch(frame, event, made):
            if event == "return" and frame.f_code.co_name == "block_on_cpu_mesh":  # each program on a mesh
                for a in jax.tree.leaves(made):
                    sizes.append((a.nbytes, max(s.data.nbytes for s in a.addressable_shards)))
        for f, data in cases.items():
            expected = f(onp, *data)
            with npx.np_default_dtype(), mesh("data"):
                given = [np.array(d) for d in data]
                sizes = [(a.nbytes, a._value.payload.addressable_shards[0].data.nbytes) for a in given]
                sys.setprofile(watch)
                eager = f(np, *given)
                sys.setprofile(None)
                largest = max(sizes)[0]
                assert len(sizes) > 5 and largest >= eager.nbytes
                on_one = max(here for all_of_it, here in sizes if all_of_it == largest)
                assert on_one == largest / mesh.size, (f, largest, on_one)
                def program(*arrays):
                    return f(np, *arrays)
                program.__name__ = f"compiled_{f.__name__}"
                compiled = npx.jit(program)(*given)
                on_one = max(elements_of_arrays(program_of(program.__name__))) * 8
                assert on_one <= largest / mesh.size * 1.05, (f, largest, on_one)
                for found in (eager, compiled):
                    assert isinstance(found.device, npx.Sharding), f
                    onp.testing.assert_allclose(found.asnumpy(), expected, 1e-9, 1e-12, err_msg=f.__name__)
"""


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_on_a_mesh(name):
    run_on_devices(8, ARRAY_PROGRAMS, "mesh = npx.Mesh(data=-1)", ARRAYS[name])


@pytest.mark.parametrize("devices", [2, 8])
def test_programs_of_numpy_never_lie_whole_on_one_device(devices):
    begin = "import jax, math, re, sys\nmesh = npx.Mesh(data=-1)"
    run_on_devices(devices, begin, NUMPY, ON_A_MESH)
