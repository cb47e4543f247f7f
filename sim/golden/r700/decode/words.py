"""Decodes CF instructions."""

from ctm.rtl.isa.draws import DRAW_OUTPUTS
from ctm.rtl.isa.limits import OUTPUTS
from ctm.rtl.isa.r700 import control_flow as cf
from ctm.rtl.isa.r700 import exports
from ctm.rtl.isa.r700.components import ComponentSelect
from ctm.rtl.isa.r700.control_flow import AluClause, CfOperation, Condition, KcacheMode
from ctm.rtl.isa.r700.exports import ExportOperation, ExportType, MemoryWrite
from ctm.rtl.isa.r700.limits import FETCH_UNITS, KCACHE_LINE_ROWS, KCACHE_SETS
from ctm.rtl.isa.r700.pipeline import PRIMITIVE_BANKS, DrawStage
from ctm.rtl.isa.r700.program import MEMORY_OUTPUT, SCRATCH_OUTPUT
from ctm.rtl.isa.word import unpack
from ctm.sim.golden.r700.decode.error import illegal_if
from ctm.sim.golden.r700.image import Information
from ctm.sim.golden.r700.instruction import (
    PARAMETER_TARGET,
    POSITION_TARGET,
    AluWord,
    Export,
    Flow,
    Kcache,
    Word,
)


def decode_word(unit: tuple[int, ...], information: Information) -> Word:
    """Decode a CF instruction.

    Raises
    ------
    IllegalError
    """
    low, high = unit
    form = unpack(cf.CF_FORM, high)
    if form["is_alu"]:
        return _alu(low, high, information)
    if form["is_export"]:
        return _export(low, high, information)
    return _flow(low, high, information)


def _flow(low: int, high: int, information: Information) -> Flow:
    word = unpack(cf.CF_DWORD1, high)
    allowed = _of_stage(information)
    known = {
        operation.value: operation
        for operation in CfOperation
        if operation not in cf.UNSUPPORTED or operation in allowed
    }
    illegal_if(word["cf_inst"] not in known, f"there is no CF instruction {word['cf_inst']}")
    operation = known[word["cf_inst"]]
    illegal_if(bool(word["reserved"]), "a reserved bit is set")
    is_fetch = operation in cf.FETCH_CLAUSES
    condition = Condition(word["cond"])
    illegal_if(operation in cf.UNCONDITIONAL and condition is not Condition.ACTIVE, f"{operation.name} has a condition")
    illegal_if(bool(word["whole_quad_mode"]) and not is_fetch, f"{operation.name} in whole quad mode")
    illegal_if(bool(word["whole_quad_mode"] & word["valid_pixel_mode"]), "whole quad mode and valid pixel mode at once")
    is_call = operation in (CfOperation.CALL, CfOperation.CALL_FS)
    illegal_if(is_call and word["pop_count"] != 0, f"{operation.name} with POP_COUNT")
    target = unpack(cf.CF_DWORD0, low)["addr"]
    if operation is CfOperation.CALL_FS:
        assert information.fetch_start is not None
        target = information.fetch_start
    illegal_if(is_fetch and target % FETCH_UNITS != 0, f"a fetch clause at the odd address {target}")
    return Flow(
        operation=operation,
        target=target,
        pop_count=word["pop_count"],
        constant=word["cf_const"],
        condition=condition,
        call_count=word["call_count"],
        units=FETCH_UNITS * ((word["count_3"] << 3 | word["count"]) + 1) if is_fetch else 0,
        ends=bool(word["end_of_program"]),
        valid_pixels=bool(word["valid_pixel_mode"]),
        whole_quads=bool(word["whole_quad_mode"]),
    )


def _of_stage(information: Information) -> tuple[CfOperation, ...]:
    """Operations that only programs of some stages of a draw have."""
    if information.stage is DrawStage.GS:
        return cf.EMITS
    return () if information.fetch_start is None else (CfOperation.CALL_FS,)


def _alu(low: int, high: int, information: Information) -> AluWord:
    word = unpack(cf.CF_ALU_DWORD0, low) | unpack(cf.CF_ALU_DWORD1, high)
    known = {operation.value: operation for operation in AluClause}
    illegal_if(word["cf_inst"] not in known, f"there is no ALU clause {word['cf_inst']}")
    operation = known[word["cf_inst"]]
    illegal_if(bool(word["alt_const"]), "ALT_CONST is set")
    pushes = operation is AluClause.ALU_PUSH_BEFORE
    illegal_if(pushes and bool(word["whole_quad_mode"]), f"{operation.name} in whole quad mode")
    sets = tuple(
        _kcache(word[f"kcache_mode{each}"], word[f"kcache_bank{each}"], word[f"kcache_addr{each}"], information)
        for each in range(KCACHE_SETS)
    )
    return AluWord(
        operation=operation,
        target=word["addr"],
        units=word["count"] + 1,
        kcache=(sets[0], sets[1]),
        whole_quads=bool(word["whole_quad_mode"]),
    )


def _kcache(mode: int, bank: int, line: int, information: Information) -> Kcache:
    lines = {KcacheMode.LOCK_1.value: 1, KcacheMode.LOCK_2.value: 2}.get(mode, 0)
    if mode == KcacheMode.LOCK_LOOP_INDEX.value:
        return Kcache(problem="lines at aL are locked, which this machine does not do")
    banks = PRIMITIVE_BANKS if information.stage is DrawStage.PS else 0
    if lines and bank > banks:
        return Kcache(
            problem=f"constant bank {bank} is locked, and there is bank {f'0..{banks}' if banks else '0 only'}"
        )
    base = 0 if bank else information.constant_row
    return Kcache(first=base + KCACHE_LINE_ROWS * line, rows=KCACHE_LINE_ROWS * lines, bank=bank)


def _export(low: int, high: int, information: Information) -> Export:
    code = unpack(exports.EXPORT_DWORD1_BUF, high)["cf_inst"]
    known = {operation.value: operation for operation in (*exports.SWIZZLED, *_writes(information))}
    illegal_if(code not in known, f"there is no export {code}")
    operation = known[code]
    if operation in exports.SWIZZLED:
        return _swizzled(operation, low, high, information)
    return _memory_write(operation, low, high, information)


def _writes(information: Information) -> tuple[ExportOperation, ...]:
    """The writes of memory that a program may have."""
    if information.stage in (DrawStage.ES, DrawStage.GS):
        return (ExportOperation.MEM_RING,)
    return exports.STREAM_WRITES if information.is_vertex else exports.MEMORY_WRITES


def _swizzled(operation: ExportOperation, low: int, high: int, information: Information) -> Export:
    word = unpack(exports.EXPORT_DWORD0, low) | unpack(exports.EXPORT_DWORD1_SWIZ, high)
    illegal_if(bool(word["reserved"]), "a reserved bit is set")
    illegal_if(bool(word["whole_quad_mode"]), "an export in whole quad mode")
    base, burst = word["array_base"], word["burst_count"] + 1
    if information.stage in (DrawStage.VS, DrawStage.DC):
        base = _vertex_target(word["type"], base, burst)
    else:
        _check_pixel_target(word["type"], base, burst, information)
    takes_memory = information.memory and base == MEMORY_OUTPUT
    illegal_if(takes_memory, "an export to output 0, which MEM_EXPORT writes")
    takes_scratch = information.scratch and base <= SCRATCH_OUTPUT < base + burst
    illegal_if(takes_scratch, "an export to output 3, which is the scratch")
    selects = tuple(word[f"sel_{component}"] for component in "xyzw")
    known = {select.value for select in ComponentSelect}
    illegal_if(any(select not in known for select in selects), "a component select of 6")
    return Export(
        operation=operation,
        base=base,
        register=word["rw_gpr"],
        relative=bool(word["rw_rel"]),
        burst=burst,
        ends=bool(word["end_of_program"]),
        valid_pixels=bool(word["valid_pixel_mode"]),
        selects=selects,
    )


def _vertex_target(kind: int, base: int, burst: int) -> int:
    """Where an export of a vertex goes, as `Export.base` has it."""
    first, count, target = {
        ExportType.POS.value: (exports.FIRST_POSITION, exports.POSITIONS, POSITION_TARGET),
        ExportType.PARAM.value: (0, exports.PARAMETERS, PARAMETER_TARGET),
    }.get(kind, (0, 0, 0))
    illegal_if(count == 0, f"an export of type {kind} of a vertex, not POS or PARAM")
    illegal_if(not first <= base <= first + count - burst, f"an export to {ExportType(kind).name} {base + burst - 1}")
    return target + base - first


def _check_pixel_target(kind: int, base: int, burst: int, information: Information) -> None:
    illegal_if(information.stage in (DrawStage.ES, DrawStage.GS), "an export of a program that writes to a ring")
    illegal_if(kind != ExportType.PIXEL.value, f"an export of type {kind}, not PIXEL")
    targets = OUTPUTS if information.stage is None else DRAW_OUTPUTS
    is_depth = base == exports.COMPUTED_DEPTH
    illegal_if(burst > 1 if is_depth else base + burst > targets, f"an export to target {base + burst - 1}")


def _memory_write(operation: ExportOperation, low: int, high: int, information: Information) -> Export:
    word = unpack(exports.EXPORT_DWORD0, low) | unpack(exports.EXPORT_DWORD1_BUF, high)
    illegal_if(bool(word["reserved"]), "a reserved bit is set")
    illegal_if(bool(word["whole_quad_mode"]), "an export in whole quad mode")
    illegal_if(word["elem_size"] == 2, "ELEM_SIZE is 2")
    if operation in exports.MEMORY_WRITES:
        is_scratch = operation is ExportOperation.MEM_SCRATCH
        allowed = information.scratch if is_scratch else information.memory
        illegal_if(
            not allowed, f"{operation.name} in a program without the flag {'SCRATCH' if is_scratch else 'MEMORY'}"
        )
    kind = MemoryWrite(word["type"])
    return Export(
        operation=operation,
        base=word["array_base"],
        register=word["rw_gpr"],
        relative=bool(word["rw_rel"]),
        burst=word["burst_count"] + 1,
        ends=bool(word["end_of_program"]),
        valid_pixels=bool(word["valid_pixel_mode"]),
        index_register=word["index_gpr"] if kind in (MemoryWrite.WRITE_IND, MemoryWrite.WRITE_IND_ACK) else None,
        acknowledged=kind in (MemoryWrite.WRITE_ACK, MemoryWrite.WRITE_IND_ACK),
        element=word["elem_size"] + 1,
        size=word["array_size"],
        mask=tuple(component for component in range(4) if word["comp_mask"] >> component & 1),
    )
