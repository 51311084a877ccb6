"""Devices, under MXNet's module name; the same functions as in `npcompat.npx`."""

from npcompat.numpy_extension import (
    Device,
    cpu,
    cpu_pinned,
    current_device,
    gpu,
    gpu_memory_info,
    num_gpus,
)

__all__ = ["Device", "cpu", "cpu_pinned", "current_device", "gpu", "gpu_memory_info", "num_gpus"]
