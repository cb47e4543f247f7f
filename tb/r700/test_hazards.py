"""Hazards: values that hardware need not deliver. Each is found where it is, and not in the program beside it."""

import numpy as np
import pytest

from ctm.rtl.isa.r700.program import ProgramType
from ctm.sim.runtime import CommandBuffer
from ctm.tb.r700.assembly import Assembly
from ctm.tb.r700.examples import ROWS, moves
from ctm.tb.r700.machine import OUTPUTS, Input, Job, run
from ctm.tb.r700.words import group, memory_export, memory_read, slot, tex, vtx

_MEMORY, _SCRATCH = {"memory": True}, {"scratch": True}
_LOAD_OWN = {"indexed": 1, "src_sel_x": 0, "elem_size": 3}


def hazard(a: Assembly, wavefront: int = 4, **information) -> tuple[int, int] | None:
    """The CF instruction and the address of the first hazard; without the watch the program runs to its end."""
    a.end()
    program = a.executable(type=ProgramType.CS, **information)
    job = Job(program=program, domain=(0, 0, 3, 3), floats=ROWS, wavefront=wavefront)
    assert run(job).error is None
    fault = run(Job(program=program, domain=(0, 0, 3, 3), floats=ROWS, wavefront=wavefront, hazards=True)).fault
    if fault is None:
        return None
    assert fault[0] == "HAZARD" and fault[3:] == (0, 0)
    return fault[1], fault[2]


@pytest.mark.parametrize("clause", ["other", "same", "earlier group"])
def test_a_clause_temporary_of_another_clause(clause: str) -> None:
    a = Assembly()
    write, read = group(slot("MOV", "T1.y", "1.0")), group(slot("MOV", "R1.x", "T1.y"))
    if clause == "other":
        a.alu(write)
        a.alu(group(slot("MOV", "T1.x", "1.0")), read)
        assert hazard(a) == (1, a.start_of(1) + 1)
    elif clause == "same":
        a.alu(write, read)
        assert hazard(a) is None
    else:
        # The write of one group is not there for its own reads.
        a.alu(group(slot("MOV", "R1.x", "T1.y"), slot("MOV", "T1.y", "1.0")))
        assert hazard(a) == (0, a.start_of(0))


@pytest.mark.parametrize(
    ("name", "flag", "write"), [("RD_SCATTER", _MEMORY, "MEM_EXPORT"), ("RD_SCRATCH", _SCRATCH, "MEM_SCRATCH")]
)
@pytest.mark.parametrize("wait", ["nothing", "WAIT_ACK", "TEX_ACK", "VTX_ACK", "VTX_TC_ACK"])
@pytest.mark.parametrize("kind", [1, 3])
def test_memory_is_read_when_writes_are_acknowledged(name: str, flag: dict, write: str, wait: str, kind: int) -> None:
    a = Assembly()
    a.alu(group(slot("MOV", "R1.x", "R0.z")))
    a.raw(memory_export(0, 1, name=write, type=kind, index_gpr=1, elem_size=3))
    own = memory_read(name, 2, 1, **_LOAD_OWN)
    if wait == "WAIT_ACK":
        a.flow("WAIT_ACK")
        a.fetch(own)
    else:
        a.fetch(vtx(3, 0), own, name="TEX" if wait == "nothing" else wait)
    found = hazard(a, **flag)
    # Writes without acknowledgement cannot be waited for.
    where = 2 if wait != "WAIT_ACK" else 3, a.start_of(1) + (2 if wait != "WAIT_ACK" else 0)
    assert found == (None if kind == 3 and wait != "nothing" else where)


def test_what_was_written_before_the_wait_is_there_whatever_comes_later() -> None:
    a = Assembly()
    a.alu(group(slot("MOV", "R1.x", "R0.z")))
    a.raw(memory_export(0, 1, name="MEM_SCRATCH", type=2))
    a.flow("WAIT_ACK")
    a.raw(memory_export(1, 1, name="MEM_SCRATCH", type=2))
    a.fetch(memory_read("RD_SCRATCH", 2, 1))
    assert hazard(a, **_SCRATCH) == (4, a.start_of(1))


def test_what_another_pixel_writes_is_not_promised() -> None:
    """Pixel z writes element z and reads element z xor 1."""
    for other, expected in (("1i", True), ("0", False)):
        a = Assembly()
        a.alu(group(slot("MOV", "R1.x", "R0.z"), slot("XOR_INT", "R2.x", "R0.z", other)))
        a.raw(memory_export(0, 1, type=3, index_gpr=1, elem_size=3))
        a.flow("WAIT_ACK")
        a.fetch(memory_read("RD_SCATTER", 3, 2, **_LOAD_OWN))
        assert hazard(a, wavefront=16, **_MEMORY) == ((3, a.start_of(1)) if expected else None)


def test_an_input_that_is_an_output() -> None:
    """Each pixel reads its own element, or all read that of pixel 1."""
    for column, status in (("R0.x", None), ("#1", "HAZARD")):
        a = Assembly()
        a.alu(group(slot("MOV", "R1.x", column), slot("MOV", "R1.y", "R0.y")), moves(2, "0"))
        a.fetch(tex("LD", 2, 1))
        a.output(2)
        values = np.zeros((1, 4, 4), np.float32)
        layout = Input(values=values).layout
        before = CommandBuffer().set_inp_fmt(0, OUTPUTS, layout.format_word, 1)
        job = Job(program=a.executable(type=ProgramType.CS), domain=(0, 0, 3, 0), hazards=True, before=before)
        error = run(job).error
        assert (None if error is None else error.status.name) == status


def test_registers_of_other_clauses_are_no_hazard() -> None:
    a = Assembly()
    a.alu(group(slot("MOV", "R1.x", "1.0")))
    a.alu(group(slot("MOV", "R2.x", "R1.x"), slot("MOV", "R2.y", "R3.x")))
    a.fetch(vtx(4, 2))
    assert hazard(a, wavefront=16) is None
