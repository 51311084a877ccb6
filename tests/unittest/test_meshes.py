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
    """,
    "operands on one device of the mesh join it": """
        a = npx.shard(np.ones((16, 2)), mesh, "data")
        one = np.full((16, 2), 3.0).to_device(npx.cpu(1))
        assert ((one * a).sum() == 96) and isinstance((one * a).device, npx.Sharding)
        a.attach_grad()
        with autograd.record():
            loss = (one * a * a).sum()
        loss.backward()
        assert a.grad.device == mesh("data") and (a.grad == 6).all()
    """,
    "shard is a constraint inside a compiled function": """
        @npx.jit
        def f(x):
            y = npx.shard(x * 2, mesh, "data")
            return y.sum(0), y
        total, y = f(np.ones((16, 2)))
        assert y.device == mesh("data") and total.tolist() == [32, 32] and (y == 2).all()
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
    "new arrays lie where the context says, draws in pieces": """
        with npx.backend("jax"):
            np.random.seed(3)
            alone = np.random.normal(size=(64, 4))
        np.random.seed(3)
        with mesh("data"):
            drawn = np.random.normal(size=(64, 4))
            places = [np.zeros(16).device, np.arange(16).device, np.array([1.0] * 8).device]
            small = np.zeros(5).device, np.array(3.0).device
            drawn[3] = 1
        assert drawn.device == mesh("data") and set(places) == {mesh("data")}
        assert set(small) == {mesh()}
        alone[3] = 1
        assert (drawn == alone).all()
        assert np.random.normal(size=3).device == npx.cpu(0)
    """,
}
ON_A_MESH = """
        random = onp.random.default_rng(0)
        cases = {
            jacobi: [],
            conjugate_gradients: [random.normal(size=(64, 64)), random.normal(size=64)],
            black_scholes: [random.uniform(5, 30, 1024) * k for k in (1.0, 2.0, 0.3)],
            k_means: [random.normal(size=(256, 3))],
            histogram: [random.normal(size=4096)],
        }
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
                compiled = npx.jit(lambda *arrays: f(np, *arrays))(*given)
                for found in (eager, compiled):
                    assert isinstance(found.device, npx.Sharding), f
                    onp.testing.assert_allclose(found.asnumpy(), expected, 1e-9, 1e-12, err_msg=f.__name__)
"""


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_on_a_mesh(name):
    run_on_devices(8, ARRAY_PROGRAMS, "mesh = npx.Mesh(data=-1)", ARRAYS[name])


@pytest.mark.parametrize("devices", [2, 8])
def test_programs_of_numpy_never_lie_whole_on_one_device(devices):
    begin = "import jax, sys\nmesh = npx.Mesh(data=-1)"
    run_on_devices(devices, begin, NUMPY, ON_A_MESH)
