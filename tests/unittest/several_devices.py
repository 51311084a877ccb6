"""Run programs in processes of their own, with devices that XLA simulates on the CPU."""

import os
import subprocess
import sys
import textwrap

IMPORTS = "import numpy as onp\nfrom npcompat import autograd, gluon, init, np, npx\n"


def environment(devices, **more):
    """Environment of a process with so many devices."""
    flags = os.environ.get("XLA_FLAGS", "")
    flags += f" --xla_force_host_platform_device_count={devices}"
    return {**os.environ, "XLA_FLAGS": flags, **more}


def run_on_devices(devices, *parts, timeout=300):
    """Run parts of a program one after the other; returns what it prints."""
    code = IMPORTS + "\n".join(map(textwrap.dedent, parts))
    found = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=environment(devices),
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert found.returncode == 0, (found.stdout + found.stderr)[-4000:]
    return found.stdout


def launched(processes, code, folder, devices=1, code_of_exit=0, timeout=240, **more):
    """Run a program in several processes, by the launcher; returns what they print."""
    script = folder / "script.py"
    script.write_text(code)
    found = subprocess.run(
        [sys.executable, "-m", "npcompat.launch", "-n", str(processes), str(script)],
        env=environment(devices, **more),
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    said = found.stdout + found.stderr
    assert found.returncode == code_of_exit, f"code {found.returncode}\n{said[-5000:]}"
    return said
