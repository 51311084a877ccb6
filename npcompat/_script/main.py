"""Command line of `python -m npcompat`."""

import argparse
import importlib.util
import logging
import os
import sys
import zipfile
from contextlib import ExitStack
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

from npcompat import npx
from npcompat._script import importer
from npcompat._script.report import reported
from npcompat._script.source import converted
from npcompat.errors import BackendError

_DESCRIPTION = """\
Run a program that says `import numpy as np` on npcompat, unchanged. The program's own files get
npcompat's arrays, with NumPy's default dtypes; installed packages keep NumPy, and are handed NumPy's
arrays over the same memory.
"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m npcompat", description=_DESCRIPTION, allow_abbrev=False
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("-m", metavar="MODULE", dest="module", help="run a module")
    what.add_argument("-c", metavar="CODE", dest="code", help="run this code")
    parser.add_argument("--backend", help="backend of new arrays: auto, jax, or numpy")
    parser.add_argument("--device", help="device of new arrays, such as gpu(0)")
    parser.add_argument(
        "--audit",
        action="store_true",
        help="say at the end what ran where, was lent to packages, and could be compiled",
    )
    parser.add_argument(
        "--profile", action="store_true", help="say at the end how long operators took"
    )
    parser.add_argument(
        "--jit",
        action="append",
        default=[],
        metavar="NAME",
        help="compile the function of this name; may be given several times",
    )
    parser.add_argument("script", nargs="?", help="file of the program")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="arguments of the program")
    return parser


def main(argv: list[str] | None = None) -> None:
    """Run the program that the arguments name."""
    arguments = sys.argv[1:] if argv is None else argv
    parser = _parser()
    own, rest = _split(arguments)
    options = parser.parse_args(own)
    if options.module is None and options.code is None:
        if not rest:
            parser.error("expected a script, -m MODULE or -c CODE")
        options.script, rest = rest[0], rest[1:]
        if zipfile.is_zipfile(options.script):
            parser.error(f"{options.script!r} is an archive; unpack it, and give the folder")
        if options.script != "-" and not Path(options.script).exists():
            parser.error(f"there is no file {options.script!r}")
    npx.set_np(dtype=True)
    for name in ("jax", "npcompat"):  # a program that logs to the root has logged nothing of these
        logging.getLogger(name).setLevel(logging.WARNING)
    importer.install()
    importer.COMPILED.update(dict.fromkeys(options.jit, False))
    importer.PLACED.update(backend=options.backend, device=options.device)
    with ExitStack() as stack:
        try:
            importer.place(stack)
        except (ValueError, BackendError) as error:
            parser.error(str(error))
        stack.callback(_report_missing)
        if options.audit:
            report = stack.enter_context(reported())
            stack.callback(lambda: print(report, file=sys.stderr))
        if options.profile:
            calls = stack.enter_context(npx.profile())
            stack.callback(lambda: print(calls, file=sys.stderr))
        _run(options, rest)


def _report_missing() -> None:
    """Report the names of functions to compile that the program did not define."""
    for name, was_defined in importer.COMPILED.items():
        if not was_defined:
            print(
                f"python -m npcompat: --jit {name}: nothing was compiled, as the program defined "
                f"no function of this name by `def`",
                file=sys.stderr,
            )


def _split(given: list[str]) -> tuple[list[str], list[str]]:
    """Options of ours, and the script with its arguments, or what follows `-m` and `-c`."""
    takes_value = {"--backend", "--device", "--jit"}
    i = 0
    while i < len(given):
        word = given[i]
        if word in ("-m", "-c"):
            return given[: i + 2], given[i + 2 :]
        if not word.startswith("-") or word == "-":
            break
        i += 2 if word in takes_value else 1
    return given[:i], given[i:]


def _run(options: argparse.Namespace, rest: list[str]) -> None:
    if options.module is not None:
        sys.argv = [options.module, *rest]
        sys.path.insert(0, str(Path.cwd()))
        spec = importlib.util.find_spec(options.module)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{options.module}.__main__")
        sys.argv[0] = _file(spec, options.module)
        _execute(Path(sys.argv[0]).read_bytes(), sys.argv[0], spec)
    elif options.code is not None:
        sys.argv = ["-c", *rest]
        sys.path.insert(0, "")
        _execute(options.code, None, None)
    else:
        sys.argv = [options.script, *rest]
        file = os.path.abspath(options.script)
        if options.script == "-":
            sys.path.insert(0, "")
            _execute(sys.stdin.read(), "<stdin>", None)
        elif os.path.isdir(file):
            sys.path.insert(0, file)
            spec = PathFinder.find_spec("__main__", [file])
            file = _file(spec, str(Path(options.script, "__main__")))
            _execute(Path(file).read_bytes(), file, spec)
        else:
            sys.path.insert(0, str(Path(file).resolve().parent))
            _execute(Path(file).read_bytes(), file, None)


def _file(spec: ModuleSpec | None, name: str) -> str:
    if spec is None or spec.origin is None:
        raise SystemExit(f"python -m npcompat: there is no module {name!r}")
    return spec.origin


def _execute(source: str | bytes, file: str | None, spec: Any) -> None:
    """Execute converted source as the module `__main__`."""
    module = ModuleType("__main__")
    module.__dict__.update(__spec__=spec, __builtins__=__builtins__, __annotations__={})
    if file is not None:
        loader = SourceFileLoader("__main__", file) if spec is None else spec.loader
        module.__dict__.update(__file__=file, __cached__=None, __loader__=loader)
    if spec is not None:
        module.__dict__.update(__package__=spec.parent, __cached__=spec.cached)
    sys.modules["__main__"] = module
    sys.excepthook = _show
    try:
        code = converted(source, file or "<string>", importer.COMPILED, importer.MARK)
    except SyntaxError as error:  # as Python shows it, without the lines that read the program
        _show(type(error), error.with_traceback(None), None)
        raise SystemExit(1) from None
    exec(code, module.__dict__)


def _show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Show an error that the program does not catch, from the program's own line on."""
    while trace is not None and trace.tb_frame.f_code.co_filename in _RUNNER:
        trace = trace.tb_next
    sys.__excepthook__(kind, error if trace is None else error.with_traceback(trace), trace)


_RUNNER = ("<frozen runpy>", __file__, str(Path(__file__).parent.with_name("__main__.py")))
"""Files of the functions that run a program."""


__all__ = ["main"]
