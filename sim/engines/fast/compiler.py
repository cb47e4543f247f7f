"""From LLVM IR to code that can be called, kept in the cache folder."""

import ctypes
import hashlib
import logging
import sys
from collections.abc import Callable, Hashable
from functools import cache
from pathlib import Path

import llvmlite
from llvmlite import binding

from ctm import rtl
from ctm.sim import golden
from ctm.sim.compiled.error import ToolchainError
from ctm.sim.compiled.tools.cache import cached
from ctm.sim.compiled.tools.programs import Tools, check
from ctm.sim.engines.fast import llvm
from ctm.sim.engines.fast.host import Host
from ctm.sim.engines.fast.kernel import RUN
from ctm.sim.engines.fast.work import WORK

_LONG = 400_000
"""Characters of modules for which LLVM takes so long that it is worth a process, which takes a tenth of a second."""
# As in the cache: a line on standard error.
_log = logging.getLogger(__name__)


class Code:
    """A compiled program in memory.

    `address` is that of what runs the vectors of a table, `work` what a thread does, see `work.py`. `pace` are
    the seconds that a wavefront took when it was last run, 0 before.
    """

    def __init__(self, data: bytes, host: Host) -> None:
        machine = llvm.machine(host.cpu, host.features)
        empty = binding.parse_assembly("")
        self._engine = binding.create_mcjit_compiler(empty, machine)
        self._engine.add_object_file(binding.ObjectFileRef.from_data(data))
        self._engine.finalize_object()
        self.address = self._engine.get_function_address(RUN)
        # Python's own lock is free while it runs.
        self.work = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_int)(self._engine.get_function_address(WORK))
        self.pace = 0.0


def code(text: Callable[[], str], key: Hashable, host: Host) -> Code:
    """The code of a program: from the cache's file for `key`, or compiled from `text`.

    Where there can be no such file a warning is logged; compiling a program takes less than a second.
    """

    def make(folder: Path, target: Path) -> None:
        del folder
        target.write_bytes(_compiled(text(), host))

    inputs = (repr(key), repr(host), llvmlite.__version__, _sources())
    try:
        data = cached("fast", inputs, ".o", make).read_bytes()
    except (ToolchainError, OSError) as error:
        _tell_of(str(error))
        data = _compiled(text(), host)
    return Code(data, host)


@cache
def _tell_of(problem: str) -> None:
    """Say once why nothing is kept."""
    _log.warning("%s; compiled programs are not kept", problem)


def _compiled(text: str, host: Host) -> bytes:
    """The object file of a module."""
    if len(text) < _LONG:
        return llvm.emitted(text, host.cpu, host.features)
    # While LLVM works here Python hears no signal, and a thread of it cannot be ended.
    with Tools() as tools:
        command = [sys.executable, "-P", llvm.__file__, host.cpu, host.features]
        result = tools.start(command, given=text.encode()).result()
    check(result, "LLVM")
    return result.stdout


@cache
def _sources() -> str:
    """A hash of everything that makes a program's code what it is, but for the program."""
    digest = hashlib.sha256()
    folders = (Path(__file__).parent, Path(golden.__path__[0]), Path(rtl.__path__[0]) / "isa")
    for path in sorted(path for folder in folders for path in folder.rglob("*.py")):
        data = path.read_bytes()
        digest.update(f"{path.name} {len(data)}\n".encode() + data)
    return digest.hexdigest()
