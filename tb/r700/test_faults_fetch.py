"""Fetch instructions that must fault, each beside a legal one. Before each is a legal instruction."""

from typing import Any

import pytest

from ctm.tb.r700.fault_cases import Case, check, fetches, instruction_flipped
from ctm.tb.r700.words import Unit, memory_read, share_read, share_write, tex, vtx

_BEFORE = vtx(3, 0)
TEXTURE: dict[str, Any] = {"texture_base": 18}
SHARE: dict[str, Any] = {"lds_dwords": 64}
BOTH: dict[str, Any] = {"memory": True, "scratch": True}
FORMATS = {13, 14, 29, 30, 34, 35, 47, 48}
TEXTURES = {3, 4, 7, 8, 10, 11, 12, *range(16, 24)}
"""TEX_INST of texture instructions that the core has."""


def case(name: str, bad: list[Unit], good: list[Unit], clause: str = "TEX", **note) -> Case:
    """Two instructions, each after a legal one."""
    return Case(
        name=name, bad=fetches(_BEFORE, bad, name=clause), good=fetches(_BEFORE, good, name=clause), at=2, note=note
    )


def bits(
    name: str, units: list[Unit], positions: dict[int, tuple[int, ...]], clause: str = "TEX", **note
) -> list[Case]:
    """An instruction with one wrong bit; `positions` has the bits of each of its words."""
    return [
        case(f"bit {bit} of word {word} of {name}", instruction_flipped(units, word, bit), units, clause, **note)
        for word, numbers in positions.items()
        for bit in numbers
    ]


_PADDING = {3: (0, 7, 31)}


def _bits() -> list[Case]:
    sample = tex("SAMPLE", 2, 0)
    read, scratch = memory_read("RD_SCATTER", 2, 0), memory_read("RD_SCRATCH", 2, 0)
    memory = {0: (15, 30, 31), 1: (8, 21), 2: (13, 14, 15, 16, 17, 18, 19), **_PADDING}
    high = tuple(range(4, 32))
    write, load = share_write(2), share_read(2, 0)
    return [
        *bits("SAMPLE", sample, {0: (5, 6, *range(24, 32)), 1: (8,), **_PADDING}),
        *bits("FETCH", vtx(2, 0), {1: (8, 21), 2: (16, 17, 20, *range(21, 32)), **_PADDING}),
        *bits("FETCH in VTX", vtx(2, 0), {1: (8, 21), 2: (16, 17, 20, *range(21, 32)), **_PADDING}, "VTX"),
        *bits("RD_SCATTER", read, memory, **BOTH),
        *bits("RD_SCRATCH", scratch, memory, "VTX_TC", **BOTH),
        *bits("LOCAL_DS_WRITE", write, {
            0: (5, 6, 7, 18, 19), 1: (0, 1, *range(8, 16), 16, 17, *range(25, 32)), 2: high, **_PADDING,
        }, **SHARE),
        *bits("LOCAL_DS_READ", load, {
            0: (5, 6, 7, 18, 19, 22, 25), 1: (7, 8, 13, 14, 15, 18, 19, 20, 22, *range(23, 32)), 2: high, **_PADDING,
        }, **SHARE),
    ]  # fmt: skip


def _textures() -> list[Case]:
    good = tex("SAMPLE", 2, 0)
    cases = [
        case(f"texture instruction {code}", tex("SAMPLE", 2, 0, tex_inst=code), good)
        for code in range(32) if code not in TEXTURES and code not in (0, 2)
    ]  # fmt: skip
    cases += [
        case(f"vertex instruction {code}", vtx(2, 0, vtx_inst=code), vtx(2, 0), clause)
        for clause in ("VTX", "VTX_TC", "VTX_ACK", "VTX_TC_ACK")
        for code in (1, 3, 16, 31)
    ]
    cases += [
        case(f"resource {number} of inputs from {base}", tex("LD", 2, 0, number), tex("LD", 2, 0, base + edge),
             texture_base=base)
        for base, number, edge in ((0, 16, 15), (18, 17, 0), (18, 34, 15), (18, 0, 7), (0, 255, 0), (250, 0, 5))
    ]  # fmt: skip
    cases += [
        case(f"select 6 of {c}", tex("SAMPLE", 2, 0, **{f"dst_sel_{c}": 6}), tex("SAMPLE", 2, 0, **{f"dst_sel_{c}": 7}))
        for c in "xyzw"
    ]
    outside = tex("GET_TEXTURE_RESINFO", 2, 0, 17)
    cases.append(case("RESINFO of no input", outside, tex("GET_TEXTURE_RESINFO", 2, 0, 18), **TEXTURE))
    return cases


def _vertices() -> list[Case]:
    good = vtx(2, 0)
    cases = [
        case(f"DATA_FORMAT {number}", vtx(2, 0, data_format=number), vtx(2, 0, data_format=min(FORMATS)))
        for number in sorted(set(range(64)) - FORMATS)
    ]
    cases += [case(f"OFFSET {offset}", vtx(2, 0, offset=offset), good) for offset in (1, 2, 3, 5, 65535)]
    cases += [
        case("OFFSET in an input", vtx(2, 0, 20, offset=4), vtx(2, 0, 20), **TEXTURE),
        case("a buffer below the inputs", vtx(2, 0, 17), vtx(2, 0, 18), **TEXTURE),
        case("a buffer above the inputs", vtx(2, 0, 34), vtx(2, 0, 33), **TEXTURE),
        case("a buffer above 15", vtx(2, 0, 16), vtx(2, 0, 15)),
        case("stride", vtx(2, 0, const_buf_no_stride=1), vtx(2, 0, mega_fetch=1, mega_fetch_count=15, fetch_type=2)),
    ]
    cases += [
        case(f"select 6 of {c}", vtx(2, 0, **{f"dst_sel_{c}": 6}), vtx(2, 0, **{f"dst_sel_{c}": 5})) for c in "xyzw"
    ]
    return cases


def _memory() -> list[Case]:
    read, scratch = memory_read("RD_SCATTER", 2, 0), memory_read("RD_SCRATCH", 2, 0)
    cases = [
        case("RD_SCATTER without its flag", read, scratch, scratch=True),
        case("RD_SCRATCH without its flag", scratch, read, memory=True),
        case("ELEM_SIZE 2", memory_read("RD_SCATTER", 2, 0, elem_size=2), read, **BOTH),
        case("ELEM_SIZE 2 of a scratch", memory_read("RD_SCRATCH", 2, 0, elem_size=2), scratch, **BOTH),
    ]
    for operation in (1, 3, 6, 7):
        bad = memory_read("RD_SCATTER", 2, 0, mem_op=operation)
        cases.append(case(f"MEM_OP {operation}", bad, read, **BOTH, **SHARE))
        cases.append(case(f"MEM_OP {operation} in VTX", bad, read, "VTX", **BOTH, **SHARE))
    for name in ("RD_SCATTER", "RD_SCRATCH"):
        for number in (0, 13, 14, 29, 30, 31, 32, 33, 36, 47, 48, 63):
            bad, good = (memory_read(name, 2, 0, data_format=each) for each in (number, 34))
            cases.append(case(f"DATA_FORMAT {number} of {name}", bad, good, **BOTH))
        bad, good = (memory_read(name, 2, 0, dst_sel_z=each) for each in (6, 4))
        cases.append(case(f"select 6 of {name}", bad, good, **BOTH))
    return cases


def _share() -> list[Case]:
    def pair(name: str, bad: list[Unit], good: list[Unit]) -> Case:
        return case(name, bad, good, **SHARE)

    cases = [
        pair("groups of several wavefronts", share_write(2, simd_wave_rel=0), share_write(2)),
        pair("DST_INDEX 2", share_write(2, dst_index=2), share_write(2, dst_index=60, dst_index_ext=3)),
        pair("DST_STRIDE 6", share_write(2, dst_stride=6), share_write(2, dst_stride=124, dst_stride_ext=3)),
    ]
    cases += [pair(f"SRC_REL_MODE {m}", share_write(2, src_rel_mode=m), share_write(2)) for m in (1, 2, 3)]
    cases += [pair(f"SRC_REL_MODE {m} of a read", share_read(2, 0, src_rel_mode=m), share_read(2, 0)) for m in (1, 3)]
    cases += [pair(f"DST_REL_MODE {m}", share_read(2, 0, dst_rel_mode=m), share_read(2, 0)) for m in (1, 2, 3)]
    cases += [pair(f"MUX_CNTL {m}", share_read(2, 0, mux_cntl=m), share_read(2, 0, mux_cntl=2)) for m in (1, 3, 4, 7)]
    for c in "xy":
        for select in (4, 5, 6, 7):
            bad, good = (share_read(2, 0, **{f"src_sel_{c}": each}) for each in (select, 3))
            cases.append(pair(f"select {select} of {c}", bad, good))
    return cases


CASES = [*_bits(), *_textures(), *_vertices(), *_memory(), *_share()]


@pytest.mark.parametrize("wavefront", [4, 64])
@pytest.mark.parametrize("first", range(0, len(CASES), 40))
def test_it_faults_and_its_neighbour_does_not(first: int, wavefront: int) -> None:
    for each in CASES[first : first + 40]:
        check(each, wavefront)
