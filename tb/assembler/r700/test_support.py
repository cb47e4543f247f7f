"""What the assembler rejects is what is illegal for the golden model: both decide by themselves, over random words."""

import random
from types import SimpleNamespace
from typing import Any

import pytest

from ctm.rtl.isa.r700.pipeline import FIRST_VERTEX_BUFFER, DrawStage
from ctm.rtl.isa.r700.program import ProgramType
from ctm.sim.assembler import AssemblyError, assemble
from ctm.sim.assembler.r700 import form
from ctm.sim.assembler.r700.form import Draft, Form
from ctm.sim.assembler.r700.names import CODE_FIELDS, CONTROL_CODES, FETCH_CODES
from ctm.sim.assembler.r700.parser.directives import Directives
from ctm.sim.assembler.r700.placement.support import problem
from ctm.sim.golden.r700.decode.error import IllegalError
from ctm.sim.golden.r700.decode.fetches import decode_fetches
from ctm.sim.golden.r700.decode.words import decode_word
from ctm.sim.golden.r700.image import Information
from ctm.sim.golden.r700.instruction import AluWord, Illegal, Kcache

CODES = [*CONTROL_CODES.values(), *FETCH_CODES.values()]
BY_OVERRIDES_ONLY = (
    "reserved", "lds_req", "coalesced_read", "rel_mode", "dst_sel", "sel_x", "sel_y", "sel_z", "sel_w", "mem_inst",
)  # fmt: skip
"""Fragments of names of fields that no text sets to an illegal value."""
NOTES = {"memory": False, "scratch": False, "texture_base": 0}


def drawn(generator: random.Random, kind: Form, code: int) -> Draft:
    """A word of a code that is nearly one that compilers write: few of its fields have any value."""
    draft = Draft(kind)
    draft.set(CODE_FIELDS[kind], code)
    if kind is form.SHARE_WRITE:
        draft.set("simd_wave_rel", 1)
    if kind in (form.VERTEX, form.MEMORY_READ):
        draft.set("data_format", 34)
    if kind in (form.MEMORY_READ, form.SHARE_READ, form.SHARE_WRITE):
        draft.set("mem_inst", 2)
    free = [name for name in kind.fields if not any(fragment in name for fragment in BY_OVERRIDES_ONLY)]
    # A fetch clause stands at an even address: the assembler aligns it.
    free = [name for name in free if name not in (CODE_FIELDS[kind], "addr", "mem_op")]
    for name in generator.sample(free, generator.randrange(3)):
        draft.set(name, generator.randrange(draft.form.limit(name)) if generator.random() < 0.7 else 1)
    if kind is form.SWIZZLED:
        draft.set("array_base", generator.choice((0, 1, 2, 3, 4, 7, 8, 31, 60, 61, 62, 63, 64)))
        draft.set("type", generator.choice((0, 0, 0, 1, 2)))
    if kind is form.VERTEX:
        draft.set("buffer_id", generator.choice((0, 0, 17, 18, 159, 160, 170, 175, 176)))
        draft.set("fetch_type", generator.choice((0, 1, 2, 2, 3)))
    return draft


def is_illegal_for_golden(draft: Draft, information: Information) -> bool:
    if draft.form in form.CONTROL_FORMS:
        try:
            word = decode_word((draft.words[0], draft.words[1]), information)
        except IllegalError:
            return True
        return isinstance(word, AluWord) and any(each.problem not in ("", Kcache().problem) for each in word.kcache)
    code = ((draft.words[0], draft.words[1]), (draft.words[2], draft.words[3]))
    found = decode_fetches(code, 0, 2, information, texture=draft.form is not form.VERTEX)
    return isinstance(found.instructions[0], Illegal)


def note(stage: DrawStage | None = None, **values: Any) -> tuple[Directives, Information]:
    """The same program information for both; of a draw's program no flags are set but the pixel program's."""
    said = NOTES | values
    if stage not in (None, DrawStage.PS):
        said |= {"memory": False, "scratch": False}
    directives = Directives(
        flags={name for name in ("memory", "scratch") if said[name]}, numbers={"texture_base": said["texture_base"]},
        stage=stage,
    )  # fmt: skip
    if stage is not None:
        fetch_start = 0 if stage in (DrawStage.VS, DrawStage.ES) else None
        said |= {"stage": stage, "fetch_start": fetch_start, "first_buffer": FIRST_VERTEX_BUFFER}
    others = SimpleNamespace(start=0, gprs=124, stack_size=64, dx10_clamp=False, depth=True, lds_dwords=1024)
    return directives, Information(type=ProgramType.PS, **vars(others), **said)


STAGES = (None, *DrawStage)


@pytest.mark.parametrize("stage", STAGES, ids=["none", *(stage.name for stage in DrawStage)])
@pytest.mark.parametrize("seed", range(8))
def test_both_reject_the_same(seed: int, stage: DrawStage | None) -> None:
    generator = random.Random(seed * len(STAGES) + STAGES.index(stage))
    verdicts = {True: 0, False: 0}
    for kind, code in CODES * 12:
        draft = drawn(generator, kind, code)
        # Without its flag a memory operation is told apart from what the machine has not.
        is_pixel = kind is form.SWIZZLED
        flags = {name: generator.random() < 0.5 if is_pixel else True for name in ("memory", "scratch")}
        directives, information = note(stage, **flags, texture_base=generator.choice((0, 18)))
        if kind is form.BUFFER and stage not in (None, DrawStage.PS):
            # Whether the flags are there is looked at by others, and of these programs none has any.
            flags = {}
        found = problem(draft, directives)
        assert bool(found) == is_illegal_for_golden(draft, information), (draft.form.name, draft.words, found, flags)
        verdicts[bool(found)] += 1
    assert min(verdicts.values()) > 300


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SAMPLE R1, R0, t16", "SAMPLE reads t16, which is no input: with .texture_base 0 these are t0 to t15"),
        (".texture_base 18\nFETCH R1, R0.x, b34",
         "FETCH reads b34, which is no input: with .texture_base 18 these are b18 to b33; b0 is the constants"),
        ("FETCH R1, R0.x, b1 OFFSET(4)", "FETCH can have an OFFSET in b0, the constants, only"),
        ("FETCH R1, R0.x, b0 OFFSET(3)", "FETCH has an OFFSET that is no multiple of 4 bytes"),
        ("FETCH R1, R0.x, b0 FORMAT(5)", "FETCH has a FORMAT that the machine has not"),
        ("FETCH R1, R0.x, b0 NO_STRIDE", "the machine does no FETCH with NO_STRIDE"),
        ("GET_LOD R1, R0, t0", "the machine has no GET_LOD"),
        ("SAMPLE R1, R0, t0 BC_FRAC_MODE", "the machine does no SAMPLE with BC_FRAC_MODE"),
        (".scratch\nRD_SCRATCH R1, [0] ELEM_SIZE(3)", "RD_SCRATCH has elements of 1, 2 or 4 dwords, not of 3"),
        (".scratch\nRD_SCRATCH R1, [0] FORMAT(FLOAT32_1)",
         "RD_SCRATCH has FORMAT(INT32_4) or FORMAT(FLOAT32_4), whatever it reads"),
        (".lds 4\nLOCAL_DS_WRITE R1.x",
         "LOCAL_DS_WRITE without WAVE_REL is for thread groups of several wavefronts, which the machine has not"),
        (".lds 4\nLOCAL_DS_WRITE R1.x STRIDE(2) WAVE_REL",
         "LOCAL_DS_WRITE has an INDEX or a STRIDE that is no multiple of 4"),
        (".lds 4\nLOCAL_DS_READ R1.x, R0.0y", "LOCAL_DS_READ takes bank and dword from components, not from constants"),
        (".lds 4\nLOCAL_DS_READ R1.x, R0.xy MUX(FFT_PERMUTE)", "LOCAL_DS_READ has MUX(NONE) or MUX(WORD_SELECT)"),
        ("EXPORT POS60, R1", "EXPORT goes to PIX0 to PIX3 or DEPTH: nothing after the program takes other exports"),
        ("EXPORT PIX3, R1 BURST(2)", "EXPORT goes to target 4: there are PIX0 to PIX3, and DEPTH for one register"),
        (".memory\nEXPORT PIX0, R1",
         "EXPORT goes to output 0, which MEM_EXPORT writes in a program with .memory: export to PIX1"),
        (".scratch\nEXPORT PIX2, R1 BURST(2)",
         "EXPORT goes to output 3, which is the scratch in a program with .scratch"),
        ("MEM_RING R1.x, [0]", "the machine has no MEM_RING"),
        ("KILL COND(BOOL)", "KILL can have no COND: put a JUMP with it in front"),
        ("POP WHOLE_QUAD", "POP can have no WHOLE_QUAD: fetches can"),
        ("TEX WHOLE_QUAD VALID_PIX\nSAMPLE R1, R0, t0", "TEX is of whole quads or of valid pixels, not of both"),
        ("CALL ADDR(a) POP_CNT(1)\na: NOP", "CALL can have no POP_CNT"),
        ("ALU_PUSH_BEFORE WHOLE_QUAD\nMOV R1.x, 0", "ALU_PUSH_BEFORE can have no WHOLE_QUAD"),
        ("ALU KCACHE0(CB0:0+aL)\nMOV R1.x, KC0[0].x",
         "ALU locks lines at aL, which the machine does not do: lock whole lines, as in CB0:16-47"),
        ("ALU KCACHE0(CB1:0-15)\nMOV R1.x, KC0[0].x",
         "ALU locks lines of another bank than CB0, the only one that there is"),
    ],
)  # fmt: skip
def test_messages(text: str, message: str) -> None:
    with pytest.raises(AssemblyError) as caught:
        assemble(text, language="r700")
    assert [error.message for error in caught.value.errors] == [message]
    assemble(f".unchecked\n{text}", language="r700")
