"""CF instructions and fetches of a draw's programs: legal where they are in the golden model, with the same meaning."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from amaranth.sim import Simulator

from ctm.rtl.border.shading import Stage
from ctm.rtl.isa.draws import VERTEX_BUFFERS, Ring
from ctm.rtl.isa.r700 import control_flow as cf
from ctm.rtl.isa.r700 import exports, fetch
from ctm.rtl.isa.r700.control_flow import CfOperation
from ctm.rtl.isa.r700.exports import MEMORY_WRITES, ExportOperation
from ctm.rtl.isa.r700.fetch import VERTEX_FORMATS
from ctm.rtl.isa.r700.pipeline import DrawStage
from ctm.rtl.isa.r700.program import ProgramType
from ctm.rtl.isa.word import pack
from ctm.rtl.r700.border.alu_clause import FIRST_SHAPE_LINE, SHAPE_BANK_LINES
from ctm.rtl.r700.fetch.decode import FetchDecode
from ctm.rtl.r700.fetch.operation import Task
from ctm.rtl.r700.fetch.vertex_format import SIZES
from ctm.rtl.r700.fetch.vertex_format import Numeric as Code
from ctm.rtl.r700.flow.instruction import CfDecode, Kind
from ctm.sim.golden.r700.decode.error import IllegalError
from ctm.sim.golden.r700.decode.fetches import decode_fetches
from ctm.sim.golden.r700.decode.words import decode_word
from ctm.sim.golden.r700.image import Information
from ctm.sim.golden.r700.instruction import AluWord, BufferFetch, Export, Flow, Illegal, Kcache, Word

CASES = 1500
STAGES = {
    DrawStage.VS: Stage.VERTICES, DrawStage.ES: Stage.VERTICES, DrawStage.GS: Stage.GEOMETRY, DrawStage.DC: Stage.COPY,
    DrawStage.PS: Stage.PIXELS,
}  # fmt: skip
"""What the hardware runs of each program."""
WITH_FETCH = (DrawStage.VS, DrawStage.ES)
FETCH_START, CONSTANT_BASE, FIRST_BUFFER = 77, 3, 160


def information(stage: DrawStage) -> Information:
    """What the notes say of the program of a stage."""
    return Information(
        type=ProgramType.PS, start=0, gprs=60, stack_size=8, dx10_clamp=False, depth=False, memory=False,
        scratch=False, texture_base=0, lds_dwords=0, stage=stage,
        fetch_start=FETCH_START if stage in WITH_FETCH else None,
        constant_row=0 if stage is DrawStage.PS else 16 * CONSTANT_BASE,
        first_buffer=FIRST_BUFFER,
    )  # fmt: skip


def program(stage: DrawStage) -> dict[str, Any]:
    """The same for the hardware."""
    draw = {
        "has_fetch": int(stage in (*WITH_FETCH, DrawStage.GS)), "fetch_start": FETCH_START,
        "first_buffer": FIRST_BUFFER, "constant_base": 0 if stage is DrawStage.PS else CONSTANT_BASE,
        "has_geometry": int(stage in (DrawStage.ES, DrawStage.GS, DrawStage.DC)),
    }  # fmt: skip
    return {"stage": STAGES[stage], "draw": draw}


def flipped(generator: np.random.Generator, bits: int, width: int) -> int:
    """A word in which none, one or two bits are others."""
    for _ in range(int(generator.choice([0, 0, 0, 1, 2]))):
        bits ^= 1 << int(generator.integers(width))
    return bits


def random_cf(generator: np.random.Generator) -> int:
    """A CF instruction: of control flow, a clause, or an export."""
    kind, high = generator.integers(3), 0
    if kind == 0:
        operation = generator.choice(
            [CfOperation.CALL_FS, CfOperation.CALL, CfOperation.RETURN, *cf.EMITS, *CfOperation]
        )
        high = pack(cf.CF_DWORD1, cf_inst=operation.value, call_count=int(generator.integers(64)), barrier=1)
        return int(generator.integers(1 << 10)) | high << 32
    if kind == 1:
        bank, line = int(generator.integers(8)), int(generator.choice([0, 1, 5, 30, 31, 200, 255]))
        low = pack(cf.CF_ALU_DWORD0, addr=4, kcache_bank0=bank, kcache_mode0=int(generator.integers(3)))
        clause = cf.AluClause.ALU.value
        return low | pack(cf.CF_ALU_DWORD1, kcache_addr0=line, count=2, cf_inst=clause, barrier=1) << 32
    operation = generator.choice([*[ExportOperation.EXPORT_DONE, ExportOperation.EXPORT] * 6, *ExportOperation])
    target = int(generator.choice([0, 0, 1, 1, 2, 2, 3]))
    likely = {0: [0, 1, 3, 61], 1: [60, 61, 63], 2: [0, 7, 28, 31]}.get(target, [0])
    base = int(generator.choice([*likely, *likely, 4, 8, 32, 64, int(generator.integers(1 << 13))]))
    burst = int(generator.choice([0, 0, 0, 1, 3, 15]))
    low = pack(exports.EXPORT_DWORD0, array_base=base, type=target, elem_size=3)
    selects = {f"sel_{component}": number for number, component in enumerate("xyzw")}
    return low | pack(exports.EXPORT_DWORD1_SWIZ, **selects, burst_count=burst, cf_inst=operation.value) << 32


def wanted(unit: int, stage: DrawStage, outputs: int, *, geometry: bool) -> Word | None:
    """What the golden model decodes of a CF instruction that the hardware does; None: it is illegal."""
    try:
        found = decode_word((unit & 0xFFFF_FFFF, unit >> 32), information(stage))
    except IllegalError:
        return None
    if not isinstance(found, Export):
        return found
    beyond = stage is DrawStage.PS and found.base != exports.COMPUTED_DEPTH and found.base + found.burst > outputs
    is_stream = found.operation not in (*exports.SWIZZLED, *MEMORY_WRITES)
    return None if beyond or (is_stream and not geometry) else found


def same_cf(found: Any, expected: Word) -> None:
    """Compare what a CF instruction means."""
    if isinstance(expected, Flow):
        calls = expected.operation is CfOperation.CALL_FS
        assert CfOperation(found.flow) is (CfOperation.CALL if calls else expected.operation)
        beyond = 1 << 16
        assert found.target % beyond == expected.target % beyond
        assert (found.target >= beyond) == (expected.target >= beyond) and found.call_count == expected.call_count
    elif isinstance(expected, AluWord):
        for kcache, own in zip(found.kcache, expected.kcache, strict=True):
            if not kcache.lines and not kcache.problem:
                assert not own.rows
                continue
            assert bool(kcache.problem) == (own.problem != Kcache().problem)
            if kcache.problem:
                continue
            line = own.first // 16
            if own.bank:
                line = min(line, 31) + own.bank * SHAPE_BANK_LINES + FIRST_SHAPE_LINE
            assert (kcache.line, 16 * kcache.lines) == (line, own.rows)


@pytest.mark.parametrize(("stage", "outputs", "geometry"), [
    (DrawStage.VS, 4, False), (DrawStage.PS, 4, False), (DrawStage.PS, 8, True), (DrawStage.VS, 8, True),
    (DrawStage.ES, 8, True), (DrawStage.GS, 8, True), (DrawStage.DC, 8, True),
])  # fmt: skip
def test_cf_instructions(stage: DrawStage, outputs: int, geometry: bool) -> None:
    unit: Any = CfDecode(draws=True, outputs=outputs, geometry=geometry)
    seen = Counter[str]()
    generator = np.random.default_rng([*DrawStage].index(stage))

    async def run(context: Any) -> None:
        context.set(unit.program, program(stage))
        for _ in range(CASES):
            bits = flipped(generator, random_cf(generator), 64)
            context.set(unit.unit, bits)
            found, expected = context.get(unit.instruction), wanted(bits, stage, outputs, geometry=geometry)
            assert bool(found.illegal) == (expected is None), f"{bits:016x}: {expected}"
            if expected is not None:
                same_cf(found, expected)
            name = "illegal" if expected is None else Kind(found.kind).name
            seen[name] += 1
            if isinstance(expected, Flow) and expected.operation is CfOperation.CALL_FS:
                seen["CALL_FS"] += 1
            if isinstance(expected, Flow) and expected.operation in cf.EMITS:
                seen["emits"] += 1

    simulator = Simulator(unit)
    simulator.add_testbench(run)
    simulator.run()
    own = {DrawStage.VS: {"CALL_FS"}, DrawStage.ES: {"CALL_FS"}, DrawStage.GS: {"emits"}}
    kinds = {"FLOW", "EXPORT", "ALU", "illegal"} | own.get(stage, set())
    assert kinds <= set(seen) and min(seen[kind] for kind in kinds) > 20, seen


def random_fetch(generator: np.random.Generator) -> int:
    """A fetch from a vertex buffer or a ring."""
    buffer = int(generator.choice([*(FIRST_BUFFER + np.array([-1, 0, 3, 15, 16])), *fetch.RING_BUFFERS * 2, 18]))
    format_ = int(generator.choice([*VERTEX_FORMATS, *VERTEX_FORMATS, int(generator.integers(64))]))
    selects = {f"dst_sel_{component}": int(generator.choice([0, 1, 2, 3, 4, 5, 7])) for component in "xyzw"}
    words = (
        pack(fetch.VTX_DWORD0, vtx_inst=0, fetch_type=int(generator.choice([0, 1, 2, 2, 3])), buffer_id=buffer,
             src_gpr=int(generator.integers(128)), src_sel_x=int(generator.integers(4))),
        pack(fetch.VTX_DWORD1, dst_gpr=int(generator.integers(128)), **selects, data_format=format_,
             num_format_all=int(generator.integers(4)), format_comp_all=int(generator.integers(2))),
        pack(fetch.VTX_DWORD2, offset=int(generator.integers(1 << 16)), mega_fetch=1),
    )  # fmt: skip
    return sum(word << 32 * number for number, word in enumerate(words))


@pytest.mark.parametrize("stage", [DrawStage.VS, DrawStage.GS, DrawStage.DC])
def test_fetches_from_vertex_buffers_and_rings(stage: DrawStage) -> None:
    unit: Any = FetchDecode(draws=True)
    generator, seen = np.random.default_rng(3), Counter[bool]()

    async def run(context: Any) -> None:
        context.set(unit.program, program(stage))
        for _ in range(CASES):
            bits = flipped(generator, random_fetch(generator), 96)
            if bits & 31:
                continue
            context.set(unit.words, bits)
            words = [bits >> 32 * number & 0xFFFF_FFFF for number in range(4)]
            code = [(words[0], words[1]), (words[2], words[3])]
            expected = decode_fetches(code, 0, 2, information(stage), texture=False).instructions[0]
            found = context.get(unit.fetch)
            assert bool(found.illegal) == isinstance(expected, Illegal), f"{bits:032x}: {expected}"
            seen[isinstance(expected, BufferFetch)] += 1
            if not isinstance(expected, BufferFetch):
                continue
            own, element = found.vertex, expected.element
            assert Task(found.task) is Task.VERTEX
            ring = Ring.ES_GS if stage is DrawStage.GS else Ring.GS_VS
            buffer = VERTEX_BUFFERS + ring.value if expected.buffer is None else expected.buffer
            assert (own.buffer, own.offset, bool(own.by_instance)) == (buffer, expected.offset, expected.by_instance)
            assert own.channels == element.channels and SIZES[own.element.size] == element.bits
            assert Code(own.element.numeric).name == element.numeric.name
            assert bool(own.element.signed) == element.signed
            assert [int(select) for select in found.selects] == list(expected.selects)

    simulator = Simulator(unit)
    simulator.add_testbench(run)
    simulator.run()
    assert min(seen.values()) > 200 and len(seen) == 2, seen
