"""FetchDecode: an instruction is what the tables say of its bits, or illegal."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pytest
from amaranth.sim import Simulator

from ctm.rtl.r700.fetch.decode import FetchDecode
from ctm.rtl.r700.fetch.operation import Task
from ctm.tb.lib.some import fewer
from ctm.tb.r700.fetch.fetch_forms import (
    AREA,
    SHARE_READ,
    SHARE_WRITE,
    TEXTURE,
    VERTEX,
    WORD_BITS,
    Form,
    fields,
    has_reserved,
    packed,
)

CASES = fewer(1500)
INPUTS, BITS = 16, 4 * WORD_BITS
FETCH, MEM, LD, RESINFO, GRADIENTS_H, GRADIENTS_V = 0, 2, 3, 4, 7, 8
WITHOUT_EFFECT, SAMPLES = (0xA, 0xB, 0xC), range(0x10, 0x18)
RD_SCRATCH, RD_SCATTER, DS_WRITE, DS_READ = 0, 2, 4, 5
FORMATS = {13: (1, 0), 14: (1, 1), 29: (2, 0), 30: (2, 1), 47: (3, 0), 48: (3, 1), 34: (4, 0), 35: (4, 1)}
"""By DATA_FORMAT: components, and whether they are floats."""
VECTORS = (34, 35)
WORD_SELECT, UNUSED, MASK = 2, 6, 7
COMPONENTS = "xyzw"
FORMS = (TEXTURE, VERTEX, AREA, SHARE_WRITE, SHARE_READ)

Program = dict[str, int]
Decoded = dict[str, Any] | None
"""The fields that mean something; None: it is illegal."""


def _number(resource: int, program: Program) -> int | None:
    """The input that a resource is."""
    number = resource - program["texture_base"]
    return number if 0 <= number < INPUTS else None


def _registers(found: dict[str, int]) -> dict[str, Any]:
    """What it reads and writes."""
    return {
        "source": found["src"], "source_relative": found["src_rel"], "destination": found["dst"],
        "destination_relative": found["dst_rel"], "selects": [found[f"dst_{component}"] for component in COMPONENTS],
    }  # fmt: skip


def texture(bits: int, program: Program) -> Decoded:
    """An instruction of a TEX clause."""
    found = fields(TEXTURE, bits)
    code, number, said = found["inst"], _number(found["resource"], program), _registers(found)
    if found["bc_frac_mode"] or found["alt_const"] or UNUSED in said["selects"]:
        return None
    if code in WITHOUT_EFFECT:
        return {"task": Task.NOTHING}
    said["coordinates"] = [found[f"src_{component}"] for component in COMPONENTS]
    if code in (GRADIENTS_H, GRADIENTS_V):
        return {"task": Task.GRADIENT, **said, "vertical": int(code == GRADIENTS_V)}
    if number is None or code not in (LD, RESINFO, *SAMPLES):
        return None
    said["input"] = number
    if code == RESINFO:
        return {"task": Task.SIZE, **said}
    said["offsets"] = [found[name] - 32 * (found[name] >> 4) for name in ("offset_x", "offset_y")]
    if code == LD:
        return {"task": Task.LOAD, **said}
    return {"task": Task.SAMPLE, **said, "normalised": found["type_x"] | found["type_y"] << 1}


def vertex(bits: int, program: Program) -> Decoded:
    """A vertex fetch: number 0 are the float constants, whatever the inputs' numbers are."""
    found = fields(VERTEX, bits)
    said = {**_registers(found), "coordinates": [found["src_x"]]}
    illegal = ("use_const_fields", "endian", "no_stride", "alt_const")
    if any(found[name] for name in illegal) or UNUSED in said["selects"]:
        return None
    if found["resource"] == 0:
        if found["offset"] % 4 or found["data_format"] not in FORMATS:
            return None
        channels, is_float = FORMATS[found["data_format"]]
        own = {"offset": found["offset"] // 4, "channels": channels, "one_is_float": is_float}
        return {"task": Task.CONSTANTS, **said, **own}
    number = _number(found["resource"], program)
    return None if number is None or found["offset"] else {"task": Task.ELEMENT, **said, "input": number}


def area(bits: int, program: Program) -> Decoded:
    """A read of an area."""
    found = fields(AREA, bits)
    said = {**_registers(found), "coordinates": [found["src_x"]], "burst": found["burst"]}
    scratch = int(found["mem_op"] == RD_SCRATCH)
    illegal = ("lds_req", "coalesced", "endian")
    if not program["scratch" if scratch else "memory"] or any(found[name] for name in illegal):
        return None
    if found["elem_size"] == 2 or found["data_format"] not in VECTORS or UNUSED in said["selects"]:
        return None
    access = {"base": found["base"], "size": found["size"], "element": found["elem_size"], "indexed": found["indexed"]}
    return {"task": Task.AREA, **said, "access": {**access, "scratch": scratch}}


def share_write(bits: int, program: Program) -> Decoded:
    """A write of the data share."""
    found = fields(SHARE_WRITE, bits)
    if found["rel_mode"] or not found["wave_rel"] or found["index"] % 4 or found["stride"] % 4:
        return None
    return {
        "task": Task.SHARE_WRITE, "source": found["src"], "source_relative": 0,
        "selects": [found[f"src_{component}"] for component in COMPONENTS],
        **{name: found[name] for name in ("index", "stride", "burst")},
    }  # fmt: skip


def share_read(bits: int, program: Program) -> Decoded:
    """A read of the data share."""
    found = fields(SHARE_READ, bits)
    if found["rel_mode"] or found["dst_rel_mode"] or max(found["src_x"], found["src_y"]) > 3:
        return None
    if found["mux"] not in (0, WORD_SELECT):
        return None
    writes = [found[f"write_{component}"] for component in COMPONENTS]
    return {
        "task": Task.SHARE_READ, "source": found["src"], "source_relative": 0, "destination": found["dst"],
        "destination_relative": 0, "selects": [index if write else MASK for index, write in enumerate(writes)],
        "coordinates": [found["src_x"], found["src_y"]], "offset": found["offset"], "burst": found["burst"],
        "broadcasts": found["broadcast"], "selects_word": int(found["mux"] == WORD_SELECT),
    }  # fmt: skip


MEMORY: dict[int, tuple[Form, Callable[[int, Program], Decoded]]] = {
    RD_SCRATCH: (AREA, area),
    RD_SCATTER: (AREA, area),
    DS_WRITE: (SHARE_WRITE, share_write),
    DS_READ: (SHARE_READ, share_read),
}


def decode(bits: int, textures: bool, program: Program) -> Decoded:
    """An instruction of a TEX clause or of a VTX clause; which form it has both of its lowest fields say."""
    code, operation = bits & 31, bits >> 8 & 7
    form: Form = TEXTURE
    of_form: Callable[[int, Program], Decoded] = texture
    if code == FETCH:
        form, of_form = VERTEX, vertex
    elif code == MEM:
        if operation not in MEMORY:
            return None
        form, of_form = MEMORY[operation]
    elif not textures:
        return None
    return None if has_reserved(form, bits) else of_form(bits, program)


class Draw:
    """Instructions that are legal, and what a change of a few bits makes of them."""

    def __init__(self, draw: np.random.Generator) -> None:
        self._draw = draw
        self.program = {
            "texture_base": self._of(0, 0, 1, 18, 240, 250, 256),
            "memory": int(draw.random() < 0.8),
            "scratch": int(draw.random() < 0.8),
        }
        self.textures = bool(draw.random() < 0.7)

    def _of(self, *values: int) -> int:
        return int(self._draw.choice(values))

    def _filled(self, form: Form, **values: int) -> int:
        """An instruction with these fields; all others are anything."""
        draw = self._draw
        own = {name: int(draw.integers(1 << high - low + 1)) for name, (_, high, low) in form.items()}
        own |= {name: 0 for name in own if name.endswith(("rel_mode", "endian", "alt_const"))}
        selects = {
            name: self._of(0, 1, 2, 3, 4, 5, MASK) for name in own if name.startswith("dst_") and name[4] in COMPONENTS
        }
        return packed(form, **{**own, **selects, **values})

    def bits(self, form: Form) -> int:
        """The 128 bits of an instruction of a form."""
        draw = self._draw
        near = self.program["texture_base"] + self._of(-1, 0, 3, 15, 15, 16)
        resource = min(max(near, 0), 255)
        if form is TEXTURE:
            code = self._of(LD, RESINFO, GRADIENTS_H, GRADIENTS_V, *WITHOUT_EFFECT, *SAMPLES, int(draw.integers(32)))
            return self._filled(TEXTURE, inst=code, bc_frac_mode=0, resource=resource)
        if form is VERTEX:
            is_constant = bool(draw.random() < 0.5)
            own = {"resource": resource, "offset": 0}
            if is_constant:
                own = {"resource": 0, "offset": 4 * int(draw.integers(1 << 14))}
            own["data_format"] = self._of(*FORMATS, *FORMATS, int(draw.integers(64)))
            return self._filled(VERTEX, inst=FETCH, use_const_fields=0, no_stride=0, **own)
        if form is AREA:
            own = {"mem_op": self._of(RD_SCRATCH, RD_SCATTER), "elem_size": self._of(0, 1, 2, 3)}
            own["data_format"] = self._of(*VECTORS, *VECTORS, *VECTORS, *FORMATS)
            return self._filled(AREA, inst=MEM, lds_req=0, coalesced=0, **own)
        if form is SHARE_WRITE:
            own = {"index": 4 * int(draw.integers(64)), "stride": 4 * int(draw.integers(128))}
            return self._filled(SHARE_WRITE, inst=MEM, mem_op=DS_WRITE, wave_rel=1, **own)
        own = {"src_x": int(draw.integers(4)), "src_y": int(draw.integers(4)), "mux": self._of(0, WORD_SELECT)}
        return self._filled(SHARE_READ, inst=MEM, mem_op=DS_READ, **own)


def drawn(seed: int, count: int) -> Iterator[tuple[int, Draw]]:
    """Instructions in which none, one or two bits are others."""
    generator = np.random.default_rng(seed)
    for number in range(count):
        draw = Draw(generator)
        bits = draw.bits(FORMS[number % len(FORMS)])
        for _ in range(int(generator.choice([0, 0, 1, 1, 2]))):
            bits ^= 1 << int(generator.integers(BITS))
        yield bits, draw


def beside_legal_ones(seed: int) -> Iterator[tuple[int, Draw]]:
    """Of each form a legal instruction, and every one that has one bit another."""
    generator = np.random.default_rng(seed)
    for form in FORMS:
        bits, draw = next(
            (bits, draw)
            for bits, draw in ((each.bits(form), each) for each in (Draw(generator) for _ in range(BITS)))
            if decode(bits, draw.textures, draw.program) is not None
        )
        yield from ((bits ^ 1 << index, draw) for index in range(BITS))


def same(found: Any, expected: dict[str, Any]) -> None:
    """Compare what the instruction says."""
    for name, value in expected.items():
        if isinstance(value, dict):
            same(found[name], value)
        elif isinstance(value, list):
            values = [found[name][index] for index in range(len(value))]
            assert values == value, f"{name} is {values}, not {value}"
        else:
            assert found[name] == value, f"{name} is {found[name]}, not {value}"


def check(cases: Iterable[tuple[int, Draw]]) -> Counter[Task | None]:
    """Decode instructions; how many there were of each task, and illegal ones."""
    unit: Any = FetchDecode()
    seen = Counter[Task | None]()

    async def run(context: Any) -> None:
        for bits, case in cases:
            context.set(unit.program, case.program)
            context.set(unit.textures, case.textures)
            context.set(unit.words, bits)
            found, expected = context.get(unit.fetch), decode(bits, case.textures, case.program)
            assert bool(found.illegal) == (expected is None), f"{bits:032x} with {vars(case)} is {expected}"
            seen[None if expected is None else expected["task"]] += 1
            if expected is not None:
                same(found, expected)

    simulator = Simulator(unit)
    simulator.add_testbench(run)
    simulator.run()
    return seen


def compare() -> None:
    """What the ordinary suite compares."""
    seen = check(drawn(1, CASES))
    # What vertices do is compared in test_draw_decoding.
    tasks = set(Task) - {Task.EXPORT, Task.ADDRESSES, Task.WRITE, Task.VERTEX, Task.VECTOR, Task.ITEMS}
    assert set(seen) == {*tasks, None} and min(seen.values()) > CASES // 400, seen
    for seed in range(4):
        check(beside_legal_ones(seed))


@pytest.mark.slow
def test_instructions_are_decoded() -> None:
    compare()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4, 14))
def test_many_more_instructions(seed: int) -> None:
    check(drawn(seed, 10_000))
    check(beside_legal_ones(seed))
