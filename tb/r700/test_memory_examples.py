"""Areas of memory, with results worked out by hand: MEM_EXPORT, RD_SCATTER, scratch."""

from collections.abc import Mapping

import numpy as np
import pytest

from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.r700.program import ProgramType
from ctm.sim.runtime import CommandBuffer, Layout
from ctm.tb.r700.assembly import Assembly
from ctm.tb.r700.examples import moves, same
from ctm.tb.r700.machine import OUTPUTS, UNTOUCHED, Job, Run, run
from ctm.tb.r700.words import export, group, memory_export, memory_read, slot, tex

_MEMORY, _SCRATCH = {"memory": True}, {"scratch": True}


def ran(a: Assembly, *, information: dict, **job) -> Run:
    """Run a program that writes memory; it must not fault."""
    a.end()
    found = run(Job(program=a.executable(**{"type": ProgramType.CS, **information}), **job))
    assert found.error is None, found.error
    return found


def stored(dwords: Mapping[int, float], size: int = 256) -> list:
    """Memory with some words written."""
    return [dwords.get(index) for index in range(size)]


def one(*exports, index: str = "0") -> list:
    """What exports of R1 (and R2 to R4, which have 16 times as much and so on) of one pixel leave."""
    a = Assembly()
    a.alu(moves(1, "#1", "#2", "#3", "#4"))
    for register in (2, 3, 4):
        multiply = [slot("LSHL_INT", f"R{register}.{c}", f"R{register - 1}.{c}", "#4") for c in "xyzw"]
        a.alu(group(*multiply))
    a.alu(moves(5, index, "#7fffffff", "#7fffffff", "#7fffffff"))
    for each in exports:
        a.raw(each)
    found = ran(a, information=_MEMORY, domain=(0, 0, 0, 0))
    return found.memory.tolist()


def check(found: list, dwords: dict[int, int]) -> None:
    same(np.array(found, np.uint32), stored(dwords, len(found)))


@pytest.mark.parametrize("kind", [0, 2])
@pytest.mark.parametrize(
    ("base", "element", "mask", "dwords"),
    [
        (0, 0, 15, {0: 1, 1: 2, 2: 3, 3: 4}),
        (5, 0, 15, {5: 1, 6: 2, 7: 3, 8: 4}),
        (5, 1, 15, {10: 1, 11: 2, 12: 3, 13: 4}),
        (5, 3, 15, {20: 1, 21: 2, 22: 3, 23: 4}),
        (5, 3, 10, {21: 2, 23: 4}),
        (5, 0, 4, {7: 3}),
        (5, 3, 0, {}),
        (63, 3, 15, {252: 1, 253: 2, 254: 3, 255: 4}),
        (254, 0, 15, {254: 1, 255: 2}),
        (256, 0, 15, {}),
        (8191, 3, 15, {}),
    ],
)
def test_areas_without_an_index(kind: int, base: int, element: int, mask: int, dwords: dict[int, int]) -> None:
    check(one(memory_export(base, 1, type=kind, elem_size=element, mask=mask), index="#1"), dwords)


@pytest.mark.parametrize("kind", [1, 3])
@pytest.mark.parametrize(
    ("base", "index", "element", "dwords"),
    [
        (5, 0, 3, {20: 1, 21: 2, 22: 3, 23: 4}),
        (5, 2, 3, {28: 1, 29: 2, 30: 3, 31: 4}),
        (5, 2, 0, {7: 1, 8: 2, 9: 3, 10: 4}),
        (5, 0xFFFFFFFF, 0, {}),
        (5, 0xFFFFFFFB, 0, {}),
        (0, 0x40000000, 3, {}),  # 2^32 dwords: no address wraps
        (0, 0x80000000, 1, {}),
        (0, 253, 0, {253: 1, 254: 2, 255: 3}),
    ],
)
def test_areas_with_an_index(kind: int, base: int, index: int, element: int, dwords: dict[int, int]) -> None:
    unit = memory_export(base, 1, type=kind, index_gpr=5, elem_size=element)
    check(one(unit, index=f"#{index:x}"), dwords)


@pytest.mark.parametrize(
    ("size", "element", "burst", "dwords"),
    [
        (0, 0, 0, {8: 1}),
        (1, 0, 0, {8: 1, 9: 2}),
        (0, 3, 0, {32: 1, 33: 2, 34: 3, 35: 4}),
        (0, 3, 1, {32: 1, 33: 2, 34: 3, 35: 4}),
        (1, 1, 0, {16: 1, 17: 2, 18: 3, 19: 4}),
        (1, 1, 1, {16: 1, 17: 2, 18: 16, 19: 32}),
        (2, 0, 2, {8: 1, 9: 16, 10: 256}),
        (4095, 0, 2, {8: 1, 9: 16, 10: 256, 11: 512, 12: 768, 13: 1024}),
        (4095, 3, 2, {**{32 + c: c + 1 for c in range(4)}, **{36 + c: 16 * (c + 1) for c in range(4)},
                      **{40 + c: 256 * (c + 1) for c in range(4)}}),
    ],
)  # fmt: skip
def test_bounds_and_bursts(size: int, element: int, burst: int, dwords: dict[int, int]) -> None:
    """The bound counts elements from the base; a burst goes on one element, and later registers overwrite."""
    check(one(memory_export(8, 1, array_size=size, elem_size=element, burst_count=burst)), dwords)


def test_an_index_does_not_move_the_bound() -> None:
    unit = memory_export(8, 1, type=1, index_gpr=5, array_size=3)
    check(one(unit, index="#2"), {10: 1, 11: 2})
    check(one(unit, index="#4"), {})


def test_registers_that_are_not_there_are_zero() -> None:
    """16 registers: a burst goes over their end; the clause temporaries have their own numbers."""
    unit = memory_export(0, 15, burst_count=1, mask=1)
    temporary = memory_export(4, 123, burst_count=1, mask=1)
    a = Assembly()
    a.alu(moves(15, "#5"), group(slot("MOV", "T0.x", "#7")))
    a.raw(unit)
    a.raw(temporary)
    found = ran(a, information=_MEMORY, domain=(0, 0, 0, 0), dwords=8)
    same(found.memory, [5, 0, None, None, 0, 7, None, None])


@pytest.mark.parametrize("wavefront", [4, 16])
def test_the_last_write_of_an_instruction_is_kept(wavefront: int) -> None:
    """All pixels write the same addresses: of pixel t R1 has t + 1 and t + 5, R2 16 times these.

    A register of the burst comes after all pixels' one before; so the second one's x is where the first one's y was.
    """
    a = Assembly()
    a.alu(group(slot("ADD_INT", "R1.x", "R0.w", "1i"), slot("ADD_INT", "R1.y", "R0.w", "#5")))
    a.alu(group(slot("LSHL_INT", "R2.x", "R1.x", "#4"), slot("LSHL_INT", "R2.y", "R1.y", "#4")))
    a.raw(memory_export(0, 1, burst_count=1, mask=3))
    found = ran(a, information=_MEMORY, domain=(0, 0, 1, 1), dwords=8, wavefront=wavefront)
    same(found.memory, [4, 4 * 16, 8 * 16, *[None] * 5])


def test_which_pixels_write() -> None:
    """Active, valid and covered ones."""
    a = Assembly()
    a.alu(group(slot("MOV", "R2.x", "R0.z")), group(slot("KILLE_INT", "_.x", "R0.z", "#5")))
    a.alu(group(slot("PRED_SETNE_INT", "_.x", "R0.z", "#3", updates_mask=True)), name="ALU_PUSH_BEFORE")
    a.raw(memory_export(0, 0, type=1, index_gpr=2, mask=4))
    a.flow("POP", pop=1)
    a.raw(memory_export(32, 0, type=3, index_gpr=2, mask=4, valid_pixel_mode=1))
    found = ran(a, information=_MEMORY, domain=(1, 1, 3, 3), dwords=64, wavefront=16)
    pixels = [0, 1, 2, 4, 6, 7, 8]
    same(found.memory, stored({2 + p: p for p in pixels} | {34 + p: p for p in [*pixels, 3]}, 64))


@pytest.mark.parametrize("faults", [False, True])
def test_writes_are_there_at_once(faults: bool) -> None:
    """Before the program ends, and although a later word faults."""
    a = Assembly()
    a.alu(moves(1, "#1", "#2", "#3", "#4"))
    a.raw(memory_export(0, 1))
    a.fetch(memory_read("RD_SCATTER", 2, 0, array_base=1))
    a.raw(memory_export(4, 2))
    if faults:
        a.flow("END_PROGRAM")
    a.end()
    found = run(Job(program=a.executable(memory=True), domain=(0, 0, 0, 0), dwords=8))
    assert (found.error is not None) is faults
    same(found.memory, [1, 2, 3, 4, 2, 3, 4, UNTOUCHED])


def read_back(**fields) -> list[list[int]]:
    """What RD_SCATTER of memory that holds 100, 101 and so on gives; R5 = (2, 3, -1, 0)."""
    a = Assembly()
    a.alu(group(slot("ADD_INT", "R1.x", "R0.z", "#64")))
    # R0.x is the index: a domain of one row has i = z.
    a.raw(memory_export(0, 1, type=1, index_gpr=0, mask=1))
    a.alu(moves(5, "#2", "#3", "-1i", "0"))
    a.fetch(memory_read("RD_SCATTER", 8, 5, **fields))
    a.raw(export(1, 8))
    a.raw(export(2, 9))
    a.end()
    program = a.executable(memory=True, type=ProgramType.CS)
    found = run(Job(program=program, domain=(0, 0, 15, 0), dwords=16, targets=3, wavefront=16))
    assert found.error is None, found.error
    same(found.memory, [100 + n for n in range(16)])
    return found.outputs[:, 0, 0].tolist()


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, [100, 101, 102, 103]),
        ({"array_base": 3}, [103, 104, 105, 106]),
        ({"array_base": 3, "elem_size": 1}, [106, 107, 108, 109]),
        ({"array_base": 3, "elem_size": 3}, [112, 113, 114, 115]),
        ({"array_base": 14}, [114, 115, 0, 0]),
        ({"array_base": 4, "elem_size": 3}, [0, 0, 0, 0]),
        ({"array_base": 3, "array_size": 1}, [103, 104, 0, 0]),
        ({"array_base": 3, "indexed": 1}, [105, 106, 107, 108]),
        ({"array_base": 3, "indexed": 1, "src_sel_x": 1}, [106, 107, 108, 109]),
        ({"array_base": 3, "indexed": 1, "src_sel_x": 2}, [0, 0, 0, 0]),
        ({"array_base": 3, "indexed": 0, "src_sel_x": 1}, [103, 104, 105, 106]),
        ({"array_base": 3, "indexed": 1, "array_size": 2}, [105, 0, 0, 0]),
        ({"dst_sel_x": 3, "dst_sel_y": 4, "dst_sel_z": 5, "dst_sel_w": 7}, [103, 0, 0x3F800000, 0]),
        ({"data_format": 34, "uncached": 1, "num_format_all": 2, "src_sel_y": 3, "src_rel": 1}, [100, 101, 102, 103]),
    ],
)
def test_reads(fields: dict[str, int], expected: list[int]) -> None:
    assert read_back(**fields)[0] == expected


def test_reads_in_a_burst() -> None:
    outputs = read_back(array_base=3, burst_count=1)
    assert outputs == [[103, 104, 105, 106], [104, 105, 106, 107]]
    outputs = read_back(array_base=1, burst_count=1, elem_size=3, array_size=0)
    assert outputs == [[104, 105, 106, 107], [0, 0, 0, 0]]


def test_a_relative_export() -> None:
    a = Assembly()
    a.alu(moves(3, "#5"), moves(15, "#6"))
    for base, const in ((0, 0), (4, 1)):
        loop = a.flow("LOOP_START", to=8000, const=const)
        a.raw(memory_export(base, 1, rw_rel=1, mask=1, burst_count=1))
        a.flow("LOOP_END", to=loop + 1)
    ints = {0: (1, 2, 0), 1: (1, 14, 0)}
    found = ran(a, information=_MEMORY, domain=(0, 0, 0, 0), dwords=8, ints=ints)
    same(found.memory, [5, 0, None, None, 6, 0, None, None])


def scratch_program(base: int = 0, **fields) -> Assembly:
    """Every pixel keeps (z, z + 1, z + 2, z + 3) and sixteen times that in the vectors base and base + 1."""
    a = Assembly()
    a.alu(group(slot("MOV", "R1.x", "R0.z"), slot("ADD_INT", "R1.y", "R0.z", "1i"),
                slot("ADD_INT", "R1.z", "R0.z", "#2"), slot("ADD_INT", "R1.w", "R0.z", "#3")))  # fmt: skip
    a.alu(group(*(slot("LSHL_INT", f"R2.{c}", f"R1.{c}", "#4") for c in "xyzw")))
    a.raw(memory_export(base, 1, name="MEM_SCRATCH", burst_count=1, **fields))
    return a


@pytest.mark.parametrize("wavefront", [4, 16, 64])
def test_each_pixel_has_its_own_scratch(wavefront: int) -> None:
    """Vector v of pixel z is at (9 v + z) * 4: the domain has 9 pixels. Uncovered pixels have none."""
    a = scratch_program(1)
    a.flow("WAIT_ACK")
    a.fetch(memory_read("RD_SCRATCH", 3, 0, array_base=1, burst_count=1, elem_size=3))
    a.fetch(memory_read("RD_SCRATCH", 5, 0, array_base=0))
    a.raw(export(0, 4))
    a.raw(export(1, 3, (0, 1, 2, 3)))
    found = ran(a, information=_SCRATCH, domain=(1, 2, 3, 4), dwords=144, wavefront=wavefront, targets=2)
    words = {(9 + z) * 4 + c: z + c for z in range(9) for c in range(4)}
    words |= {(18 + z) * 4 + c: 16 * (z + c) for z in range(9) for c in range(4)}
    same(found.scratch, stored(words, 144))
    for z in range(9):
        j, i = divmod(z, 3)
        same(found.outputs[0, j + 2, i + 1], [16 * (z + c) for c in range(4)])
        same(found.outputs[1, j + 2, i + 1], [z + c for c in range(4)])


def test_scratch_with_an_index_a_mask_and_an_end() -> None:
    """Four pixels; vector 1 + 2 of pixel 0 is at 48, and the buffer ends at 56 so that the last two have none."""
    a = Assembly()
    a.alu(moves(2, "#2"), moves(1, "#1", "#2", "#3", "#4"))
    a.raw(memory_export(1, 1, name="MEM_SCRATCH", type=3, index_gpr=2, mask=10, elem_size=0, array_size=0))
    a.flow("WAIT_ACK")
    a.fetch(memory_read("RD_SCRATCH", 3, 2, array_base=1, indexed=1, data_format=34))
    a.raw(export(0, 3))
    found = ran(a, information=_SCRATCH, domain=(0, 0, 1, 1), dwords=56)
    same(found.scratch, stored({49: 2, 51: 4, 53: 2, 55: 4}, 56))
    wrote = [UNTOUCHED, 2, UNTOUCHED, 4]
    same(found.outputs[0].reshape(4, 4), [wrote, wrote, [0] * 4, [0] * 4])


def test_uncovered_pixels_have_no_scratch() -> None:
    """The domain is lane 3 of a quad: the others' words appear in their differences. All keep 5.0 at their addresses.

    The number of lane 2 is -1: vector 1 of it would be where vector 0 of lane 3 is.
    """
    a = Assembly()
    a.alu(moves(1, "#40a00000"))
    a.raw(memory_export(0, 1, name="MEM_SCRATCH", burst_count=1))
    a.fetch(memory_read("RD_SCRATCH", 3, 0, array_base=1), tex("GET_GRADIENTS_H", 4, 3))
    a.raw(export(0, 4))
    found = ran(a, information=_SCRATCH, domain=(1, 1, 1, 1), dwords=16)
    same(found.scratch, [*np.array([5, 0, 0, 0], np.float32).view(np.uint32), 0, 0, 0, 0, *[None] * 8])
    same(found.outputs[0, 1, 1, 0], 0)


@pytest.mark.parametrize("index", [0xFFFFFFFF, 0x40000000, 0x10000000])
def test_scratch_addresses_do_not_wrap(index: int) -> None:
    a = Assembly()
    a.alu(moves(2, f"#{index:x}"))
    a.raw(memory_export(1, 1, name="MEM_SCRATCH", type=1, index_gpr=2))
    a.fetch(memory_read("RD_SCRATCH", 3, 2, array_base=1, indexed=1))
    a.raw(export(0, 3))
    found = ran(a, information=_SCRATCH, domain=(0, 0, 1, 1), dwords=32)
    same(found.scratch, stored({}, 32))
    same(found.outputs[0].reshape(4, 4), [[0] * 4] * 4)


@pytest.mark.parametrize(("output", "flag"), [(0, "memory"), (3, "scratch")])
@pytest.mark.parametrize("wrong", [{"format": DataFormat.FLOAT32_4}, {"format": DataFormat.UINT8_4}, {"tiling": 1}])
def test_such_an_output_is_single_floats_in_rows(output: int, flag: str, wrong: dict) -> None:
    a = Assembly()
    a.end()
    layout = Layout(width=64, height=32, format=wrong.get("format", DataFormat.FLOAT32_1))
    word = layout.format_word | wrong.get("tiling", 0) << 16
    before = CommandBuffer().append("set_out_fmt", output, OUTPUTS, word, 32)
    error = run(Job(program=a.executable(**{flag: True}), before=before)).error
    assert error is not None and error.status.name == "BAD_UMRT_FORMAT"
    other = {"memory": "scratch", "scratch": "memory"}[flag]
    error = run(Job(program=a.executable(**{other: True}), before=before)).error
    assert error is None
