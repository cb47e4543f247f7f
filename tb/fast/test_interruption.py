"""A signal while LLVM compiles: no thread waits for LLVM, and no unfinished file is left."""

import signal
import time
from pathlib import Path

import pytest

from ctm.rtl.isa.r5xx.opcodes import ZeroTest
from ctm.tb.cli.processes import PATIENCE, STATUS, running, session, wait
from ctm.tb.fast.tasks import STORE_POSITION
from ctm.tb.jobs.folder import Folder, executable
from ctm.tb.r5xx.machine import FULL_FLOW_CONTROL
from ctm.tb.r5xx.statements import ALU, add, begin_if, compare, end_if, fetch

CTM = Path(__file__).parents[2] / ".venv" / "bin" / "ctm"
BRANCHES = [
    statement
    for unit in range(5, 405, 4)
    for statement in (begin_if(unit, ALU), fetch(destination=unit // 4 % 4), add(unit // 4 % 4), end_if())
]
"""LLVM takes more than a second for them, on a fast computer."""


@pytest.mark.slow
@pytest.mark.parametrize(("number", "delay"), [(signal.SIGINT, 0.1), (signal.SIGTERM, 0.3), (signal.SIGINT, 0.7)])
def test_while_a_program_is_compiled(tmp_path: Path, number: signal.Signals, delay: float) -> None:
    folder, cache = Folder.make(tmp_path), tmp_path / "cache"
    folder.change("float = {3 =", "float = {0 = [1.0, 1.0, 1.0, 1.0], 1 = [0, 0, 0, 0], 2 = [0, 0, 0, 0], 3 =")
    program = [compare(0, ZeroTest.LESS), *BRANCHES, *STORE_POSITION]
    (tmp_path / "scale.elf").write_bytes(executable(program, us_fc_ctrl=FULL_FLOW_CONTROL))
    with running([CTM, "run", folder.job, "--engine", "fast"], env={"XDG_CACHE_HOME": str(cache)}) as process:
        # LLVM has a process of its own.
        wait(lambda: len(session(process)) == 2)
        time.sleep(delay)
        begin = time.monotonic()
        process.send_signal(number)
        printed, errors = process.communicate(timeout=PATIENCE)
        assert time.monotonic() - begin < 2
        assert (process.returncode, printed) == (STATUS[number], "")
        assert errors == f"error: interrupted by {number.name}; no file is half written\n"
        wait(lambda: not session(process))
    assert list((cache / "ctm").iterdir()) == []
    assert not (tmp_path / "y.npy").exists()
