"""CF instructions that must fault, each beside a legal one: control flow and exports."""

from typing import Any

import pytest

from ctm.tb.r700.assembly import Assembly, Label
from ctm.tb.r700.fault_cases import Body, Case, attempt, by_name, check, clause, fetches, flipped, flow, nothing, raw
from ctm.tb.r700.machine import Job, run
from ctm.tb.r700.words import export, group, memory_export, slot, tex, vtx, word

_NOP = group(slot("NOP", "_.x"))
_LOAD = vtx(1, 0)
_LEGAL_FLOW = {*range(0, 19), 20, 24, 26, 27, 28, 29}
"""CF_INST below 32 that this core has."""
_FETCHES = ("TEX", "VTX", "VTX_TC", "TEX_ACK", "VTX_ACK", "VTX_TC_ACK")
_JUMPING = ("JUMP", "PUSH", "PUSH_ELSE", "ELSE", "POP_JUMP", "POP_PUSH", "POP_PUSH_ELSE", "LOOP_START_DX10")
MEMORY, SCRATCH = {"memory": True}, {"scratch": True}


def in_loop(body: Body) -> Body:
    """A body in a loop of one round."""

    def write(a: Assembly) -> int:
        loop, end = a.flow("LOOP_START_DX10", to=8000), Label()
        found = body(a)
        a.flow("LOOP_BREAK", to=end)
        a.bind(end)
        a.flow("LOOP_END", to=loop + 1)
        return found

    return write


def after(first: Body, second: Body, *others: Body) -> Body:
    """Two bodies, of which the second is in question, and others."""

    def write(a: Assembly) -> int:
        first(a)
        found = second(a)
        for each in others:
            each(a)
        return found

    return write


_POP = flow("POP", pop=1)
_PUSH = flow("PUSH", to=8000)
_CALL_COUNT = word("CALL", 8000, cond="FALSE")


def _flow_cases() -> list[Case]:
    cases = [
        Case(name="reserved bit 20", bad=raw(flipped(word("NOP"), 1, 20)), good=raw(word("NOP"))),
        Case(name="CALL with POP_COUNT", bad=flow("CALL", cond="FALSE", pop=1), good=raw(_CALL_COUNT)),
        Case(name="KILL with COND", bad=flow("KILL", cond="BOOL"), good=flow("KILL")),
        Case(name="ALU with ALT_CONST", bad=clause(_NOP, alt_const=1), good=clause(_NOP)),
        Case(name="CF_ALU 12", bad=raw(alu_code(12)), good=clause(_NOP)),
        Case(name="push in whole quad mode", bad=clause(_NOP, name="ALU_PUSH_BEFORE", whole_quad_mode=1),
             good=after(clause(_NOP, name="ALU_PUSH_BEFORE"), _POP)),
    ]  # fmt: skip
    for name in _FETCHES:
        both = fetches(_LOAD, name=name, whole_quad_mode=1, valid_pixel_mode=1)
        good = fetches(_LOAD, name=name, whole_quad_mode=1)
        cases.append(Case(name=f"{name} in both modes", bad=both, good=good))
        for cond in ("FALSE", "BOOL", "NOT_BOOL"):
            with_condition = fetches(_LOAD, name=name, cond=cond)
            cases.append(Case(name=f"{name} {cond}", bad=with_condition, good=fetches(_LOAD, name=name)))
        odd = fetches(_LOAD, name=name)
        cases.append(Case(name=f"{name} at an odd address", bad=raw(word(name, 1)), good=odd))
    for name in (*_JUMPING, "NOP", "POP", "KILL", "WAIT_ACK", "LOOP_END", "CALL", "RETURN"):
        pops = after(_PUSH, flow("POP_JUMP", cond="ACTIVE", pop=1))
        whole = after(_PUSH, flow(name, to=8000, whole_quad_mode=1))
        cases.append(Case(name=f"{name} in whole quad mode", bad=whole, good=pops))
    return cases


def alu_code(code: int) -> tuple[int, int]:
    """An ALU clause's word with another code."""
    return 0, 1 << 31 | code << 26


def _export_cases() -> list[Case]:
    good = raw(export(0, 1))
    cases = [
        Case(name=f"reserved bit {bit} of an export", bad=raw(flipped(export(0, 1), 1, bit)), good=good)
        for bit in (12, 13, 14, 15, 16)
    ]
    cases += [
        Case(name=f"export to {base}", bad=raw(export(base, 1)), good=raw(export(61, 1)))
        for base in (4, 5, 6, 7, 8, 60, 62, 63, 64, 125, 0x1000, 0x1FFF)
    ]
    cases += [Case(name=f"export of type {kind}", bad=raw(export(0, 1, type=kind)), good=good) for kind in (1, 2, 3)]
    selects: list[tuple[str, dict[str, Any]]] = [(c, {f"sel_{c}": 6}) for c in "xyzw"]
    cases += [Case(name=f"select 6 of {c}", bad=raw(export(0, 1, **fields)), good=good) for c, fields in selects]
    cases += [
        Case(name=f"{base} and {burst} after", bad=raw(export(base, 1, burst_count=burst)),
             good=raw(export(base, 1, burst_count=burst - 1)))
        for base, burst in ((0, 4), (1, 3), (2, 2), (3, 1), (61, 1))
    ]  # fmt: skip
    cases += [
        Case(name=f"{name} in whole quad mode", bad=raw(flipped(unit, 1, 30)), good=raw(unit), note=note)
        for name, unit, note in (
            ("EXPORT", export(1, 1), {}),
            ("MEM_EXPORT", memory_export(0, 1), MEMORY),
            ("MEM_SCRATCH", memory_export(0, 1, name="MEM_SCRATCH"), SCRATCH),
        )
    ]
    for unit in (export(1, 1, rw_rel=1), memory_export(0, 1, rw_rel=1)):
        case = Case(name="RW_REL with no loop", bad=raw(unit), good=in_loop(raw(unit)), note=MEMORY)
        cases.append(case)
    cases += [
        Case(name="MEM_EXPORT without its flag", bad=raw(memory_export(0, 1)), good=raw(export(0, 1)), note=SCRATCH),
        Case(name="MEM_SCRATCH without its flag", bad=raw(memory_export(0, 1, name="MEM_SCRATCH")), good=nothing,
             note=MEMORY),
        Case(name="export to memory", bad=raw(export(0, 1)), good=raw(export(1, 1)), note=MEMORY),
        Case(name="export in a burst to memory", bad=raw(export(0, 1, burst_count=1)),
             good=raw(export(1, 1, burst_count=2)), note=MEMORY),
        Case(name="reserved bit 16 of MEM_EXPORT", bad=raw(flipped(memory_export(0, 1), 1, 16)),
             good=raw(memory_export(0, 1)), note=MEMORY),
        Case(name="ELEM_SIZE 2", bad=raw(memory_export(0, 1, elem_size=2)), good=raw(memory_export(0, 1, elem_size=3)),
             note=MEMORY),
        Case(name="ELEM_SIZE 2 of a scratch", bad=raw(memory_export(0, 1, name="MEM_SCRATCH", elem_size=2)),
             good=raw(memory_export(0, 1, name="MEM_SCRATCH", elem_size=1)), note=SCRATCH),
    ]  # fmt: skip
    both = MEMORY | SCRATCH
    for name in ("MEM_STREAM0", "MEM_STREAM1", "MEM_STREAM2", "MEM_STREAM3", "MEM_REDUCTION", "MEM_RING"):
        good = raw(memory_export(0, 1, name="MEM_SCRATCH"))
        cases.append(Case(name=name, bad=raw(memory_export(0, 1, name=name)), good=good, note=both))
    return cases


def _stack_cases() -> list[Case]:
    def case(name: str, bad: Body, good: Body) -> Case:
        return Case(name=name, bad=bad, good=good, status="STACK")

    enough = [_PUSH] * 3
    cases = [
        case("pops too many", flow("POP", pop=2), after(_PUSH, flow("POP", pop=1))),
        case("pops all", flow("POP", pop=7), after(after(*enough), flow("POP", pop=3))),
        case("ALU_POP_AFTER of nothing", after(flow("POP", pop=1), clause(_NOP, name="ALU_POP_AFTER")),
             after(_PUSH, clause(_NOP, name="ALU_POP_AFTER"))),
        case("ALU_POP2_AFTER of one", clause(_NOP, name="ALU_POP2_AFTER"),
             after(after(_PUSH, _PUSH), clause(_NOP, name="ALU_POP2_AFTER"))),
        case("ELSE of nothing", after(flow("POP", pop=1), flow("ELSE")),
             after(after(_PUSH, _PUSH), flow("POP", pop=2))),
        case("ELSE_AFTER of nothing", after(flow("POP", pop=1), clause(_NOP, name="ALU_ELSE_AFTER")),
             after(_PUSH, clause(_NOP, name="ALU_ELSE_AFTER"), flow("ELSE"), _POP)),
        case("pops a loop", after(flow("LOOP_START_DX10"), flow("POP", pop=1)), in_loop(after(_PUSH, _POP))),
        case("ELSE in a loop", after(flow("LOOP_START_DX10"), flow("ELSE")), in_loop(nothing)),
        case("ELSE in a loop, COND", after(flow("LOOP_START_DX10"), flow("ELSE", cond="BOOL")), in_loop(nothing)),
        case("RETURN without a call", flow("RETURN"), flow("RETURN", cond="FALSE")),
        case("RETURN in a loop", after(flow("LOOP_START_DX10"), flow("RETURN")), in_loop(flow("RETURN", cond="BOOL"))),
        case("JUMP pops too many", flow("JUMP", cond="FALSE", pop=2), flow("JUMP", cond="ACTIVE", pop=2)),
        case("POP_JUMP pops first", flow("POP_JUMP", cond="ACTIVE", pop=2), after(_PUSH, flow("POP_JUMP", pop=1))),
        case("PUSH pops where it jumps", flow("PUSH", cond="FALSE", pop=2), after(flow("PUSH", pop=2), _POP)),
        case("LOOP_START pops where it jumps", flow("LOOP_START_DX10", cond="FALSE", pop=2), in_loop(nothing)),
    ]  # fmt: skip
    for name in ("LOOP_BREAK", "LOOP_CONTINUE", "LOOP_END"):
        cases.append(case(f"{name} without a loop", flow(name), in_loop(nothing)))
    return cases


def _range_cases() -> list[Case]:
    def case(name: str, bad: Body, good: Body = nothing) -> Case:
        return Case(name=name, bad=bad, good=good, status="PC_RANGE")

    return [
        case("a clause after the code", raw((8000, alu_code(8)[1])), clause(_NOP)),
        case("a clause over the end", raw((0, 1 << 31 | 8 << 26 | 127 << 18)), clause(_NOP)),
        case("a fetch clause after the code", raw(word("TEX", 8000)), fetches(_LOAD)),
        case("a fetch clause over the end", raw(word("TEX", 0, count=7, count_3=1)), fetches(_LOAD)),
    ]


CASES = [*_flow_cases(), *_export_cases(), *_stack_cases(), *_range_cases()]


def find(name: str) -> None:
    check(by_name(CASES, name), 16)


@pytest.mark.parametrize("wavefront", [4, 64])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_it_faults_and_its_neighbour_does_not(case: Case, wavefront: int) -> None:
    check(case, wavefront)


@pytest.mark.parametrize("code", sorted(set(range(32)) - _LEGAL_FLOW))
def test_codes_that_are_no_operations(code: int) -> None:
    found, at, _ = attempt(raw((0, 1 << 31 | code << 23)), {}, 4)
    assert found.fault == ("ILLEGAL_INSTRUCTION", at, 0, 4, 2)


@pytest.mark.parametrize("code", [code for code in range(32, 64) if code not in (0x24, 0x27, 0x28, 0x3A)])
def test_exports_that_are_none(code: int) -> None:
    found, at, _ = attempt(raw((0, 1 << 31 | code << 23)), {"memory": True, "scratch": True}, 4)
    assert found.fault == ("ILLEGAL_INSTRUCTION", at, 0, 4, 2)


@pytest.mark.parametrize("target", [8191, 1 << 21, 1 << 31, (1 << 32) - 1])
def test_control_flow_that_leaves_the_code(target: int) -> None:
    """The address of a CF instruction has 32 bits, FAULT_PC has 16 of them."""
    found, _, _ = attempt(flow("JUMP", to=target, cond="FALSE"), {}, 16)
    assert found.fault is not None and found.fault[0] == "PC_RANGE"
    assert (found.fault[1], found.fault[3:]) == (target & 0xFFFF, (4, 2))


def test_a_program_that_runs_off_its_end() -> None:
    a = Assembly()
    a.flow("NOP")
    a.flow("NOP")
    assert run(Job(program=a.executable())).fault == ("PC_RANGE", 2, 0, 0, 0)


def test_the_watchdog_counts_words_groups_and_fetches() -> None:
    a = Assembly()
    a.flow("NOP")
    a.alu(group(slot("NOP", "_.x")), group(slot("MOV", "R1.x", "#00000001"), slot("MOV", "R1.y", "0")))
    a.fetch(tex("GET_GRADIENTS_H", 1, 0), vtx(1, 0))
    a.end()
    executable = a.executable()
    enough = run(Job(program=executable, domain=(0, 0, 1, 1), watchdog=8))
    assert enough.error is None and enough.instructions == 8
    for limit, pc in ((7, (3, 0)), (6, (2, 1)), (5, (2, 0)), (3, (1, 1)), (2, (1, 0)), (1, (1, -1))):
        found = run(Job(program=executable, domain=(0, 0, 1, 1), watchdog=limit))
        assert found.fault is not None and found.fault[0] == "WATCHDOG", limit
        assert found.fault[1] == pc[0]
