"""Executables of draws as text and back, and programs of one stage."""

from dataclasses import replace

import pytest

from ctm.rtl.isa.r700.pipeline import PIPELINE_WORDS, DrawStage, pipeline_of
from ctm.sim.assembler import AssemblyError, assemble, disassemble
from ctm.sim.draws.recorded import import_draw
from ctm.sim.elf import ElfError, describe, read, write
from ctm.sim.elf.r700.executable import Executable
from ctm.sim.runtime.draws import pipeline
from ctm.tb.draws.recorded import COMPILERS, DATA, cases, document
from ctm.tb.draws.scene import PIXEL, SMOOTH, VERTEX
from ctm.tb.lib.some import only


def executables(compiler: str) -> list[bytes]:
    """Those of recorded draws."""
    found = []
    for name, _ in cases((compiler,)):
        data = import_draw(DATA / f"{name}.json", document(name), compiler).files[f"{name}.elf"]
        assert isinstance(data, bytes)
        found.append(data)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("compiler", only(COMPILERS, ("sb",)))
def test_the_text_of_an_executable_gives_its_bytes_again(compiler: str) -> None:
    for data in executables(compiler):
        executable = read(data)
        assert write(executable) == data
        again = assemble(disassemble(executable))
        assert again == executable and write(again) == data


def test_the_programs_of_stages_are_told() -> None:
    executable = pipeline(vertex=VERTEX, pixel=PIXEL, inputs=SMOOTH)
    assert describe(executable)["type"] == "DRAW" and describe(executable)["stages"] == {"VS": 0}
    assert "; VS" in disassemble(executable)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (".stage xs\nNOP", "expected a stage of a draw, not 'xs'; there are: vs, es, gs, dc, ps"),
        (".stage vs\nEXPORT_DONE PIX0, R0", "EXPORT_DONE goes to POS60 to POS63 or PARAM0 to PARAM31"),
        (".stage gs\nEXPORT_DONE POS60, R0", "EXPORT_DONE goes nowhere: a program in front of a copy program writes"),
        (".stage vs\nEMIT_VERTEX", "a program of stage VS has no EMIT_VERTEX"),
        (".stage ps\nEXPORT_DONE PARAM0, R0", "EXPORT_DONE goes to PIX0 to PIX7 or DEPTH: nothing after the program"),
        (".stage ps\nEXPORT_DONE PIX8, R0", "EXPORT_DONE goes to target 8: there are PIX0 to PIX7"),
        (
            ".stage vs\nFETCH R1, R0.x, b3\nEXPORT_DONE POS60, R1",
            "FETCH reads b3, which is no vertex buffer: these are b160",
        ),
        (".stage gs\nFETCH R1, R0.x, b160\nEMIT_VERTEX", "FETCH reads b160, and the ring is b17"),
        (".pipeline NOTHING 3\nNOP", "expected a word of the pipeline note, not 'NOTHING'"),
        (".pipeline version 3\nNOP", ".pipeline: word 0 of the pipeline information is 3 instead of 1792"),
    ],
)
def test_what_a_stage_has_not_is_said(text: str, message: str) -> None:
    with pytest.raises(AssemblyError) as caught:
        assemble(f".isa r700\n{text}", name="a.s")
    assert message in str(caught.value)


def test_one_program_of_a_draw_is_no_executable() -> None:
    program = assemble(VERTEX)
    assert isinstance(program, Executable) and program.stage is DrawStage.VS
    with pytest.raises(ElfError, match="a program of stage VS has to be linked with the others of its draw"):
        write(program)
    with pytest.raises(ValueError, match=r"the pixel program must say \.stage ps"):
        pipeline(vertex=VERTEX, pixel=VERTEX)


def test_every_word_of_the_note_is_checked() -> None:
    executable = pipeline(vertex=VERTEX, pixel=PIXEL, inputs=SMOOTH)
    assert executable.pipeline is not None
    words, units = list(executable.pipeline.words), len(executable.code)
    assert pipeline_of(tuple(words), units) == executable.pipeline
    accepted = []
    for index in range(PIPELINE_WORDS):
        for value in (1 << 31, 0xFFFF_FFFF):
            changed = [*words]
            changed[index] = value
            try:
                pipeline_of(tuple(changed), units)
            except ValueError:
                continue
            accepted.append(index)
    # Sizes of rings' items, which nothing bounds where there is no geometry program.
    assert set(accepted) == {16, 17, 18}


def test_a_note_that_makes_no_sense_is_named() -> None:
    executable = pipeline(vertex=VERTEX, pixel=PIXEL, inputs=SMOOTH)
    assert executable.pipeline is not None
    for changed, message in (
        ({"parameters": 0}, "a vertex has 0 parameters, not 1..32"),
        ({"fetch": 8000}, "the fetch subroutine starts at 8000"),
        ({"vertex": replace(executable.pipeline.vertex, gprs=0)}, "number of registers of the vertex program is 0"),
    ):
        with pytest.raises(ValueError, match=message):
            replace(executable, pipeline=replace(executable.pipeline, **changed))
