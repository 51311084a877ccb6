"""Kernels are registered where they are written, once, and found by name."""

import importlib

import jax.numpy as jnp
import numpy as onp
import pytest
from internals import KERNELS, KernelNamespace, OperatorError, namespace, register_kernel


def test_two_kernels_of_one_name_are_refused():
    @register_kernel("test_twice", backend="test")
    def first():
        pass

    def second():
        pass

    with pytest.raises(OperatorError, match="two kernels 'test_twice': in .*test_kernel_table"):
        register_kernel("test_twice", backend="test")(second)
    assert KERNELS["test"]["test_twice"] is first


def test_a_namespace_finds_kernels_before_those_of_libraries_and_names_what_it_lacks():
    @register_kernel("sin", backend="test_namespace")
    def sin(x):
        return "ours"

    xp = KernelNamespace("test_namespace", (onp, jnp), {})
    assert xp.sin(0) == "ours"
    assert xp.cos is onp.cos
    with pytest.raises(AttributeError, match="backend 'test_namespace' has no kernel 'cosine'"):
        xp.cosine


@pytest.mark.parametrize("module", namespace._LATER)
def test_modules_that_are_imported_later_register_what_is_said_of_them(module):
    importlib.import_module(module)
    registered = {name for name, k in KERNELS["jax"].items() if k.__module__ == module}
    assert registered == set(namespace._LATER[module])
