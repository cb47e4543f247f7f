"""The program loader with formats of no instruction set: it takes their executables only, as long as they allow."""

import struct
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from ctm.rtl.border.lines import LINE_BYTES
from ctm.rtl.isa import executable as elf
from ctm.rtl.isa.executable import NoteType, ProgramFormat
from ctm.rtl.isa.r5xx.program import PROGRAM_FORMAT
from ctm.rtl.isa.status import Status
from ctm.rtl.pe.loader import ProgramLoader
from ctm.tb.lib.streams import simulate
from ctm.tb.pe.images import header, note

BASE = 0x0030_0800
SMALL = ProgramFormat(
    machine=0xBEEF, information=NoteType.EARLY_EXIT, version=0xC0DE, unit_bytes=4, most_units=33, image_limit=2048
)
LARGE = ProgramFormat(
    machine=7, information=NoteType.OUTPUTS, version=2, unit_bytes=40, most_units=1000, image_limit=128 * 1024
)
FORMATS = {"small": SMALL, "large": LARGE, "R5xx": PROGRAM_FORMAT}
_NOTE_AT = 256
_CODE_AT = 512

Loaded = tuple[Status, int, list[int]]
"""Why it was not loaded, or OK; the units and the program information, if it was."""


def information(form: ProgramFormat) -> list[int]:
    return [form.version, *range(1, elf.PROGRAM_INFORMATION_WORDS)]


def executable(
    form: ProgramFormat, code_bytes: int, code_at: int = _CODE_AT, draw: Sequence[int] = (), **other: Any
) -> bytes:
    """An image of a format, with the words of a `draw`, or, with what is `other` than there, of none."""
    kind, version = (other.get(name, getattr(form, name)) for name in ("information", "version"))
    words = [version, *information(form)[1:]]
    contents = note(elf.NOTE_NAME, kind.value, struct.pack(f"<{len(words)}I", *words))
    if draw:
        assert form.pipeline is not None
        contents += note(elf.NOTE_NAME, form.pipeline.value, struct.pack(f"<{len(draw)}I", *draw))
    table = elf.ELF_HEADER_BYTES
    segments = [(elf.PT_NOTE, _NOTE_AT, len(contents)), (elf.PT_LOAD, code_at, code_bytes)]
    front = header(table, len(segments), other.get("machine", form.machine))
    front += b"".join(struct.pack("<8I", kind, at, 0, 0, size, 0, 0, 0) for kind, at, size in segments)
    return front.ljust(_NOTE_AT, b"\0") + contents


async def load_one(context: Any, loader: ProgramLoader, image: bytes, limit: int = SMALL.image_limit) -> Loaded:
    """Load an image; requests to memory lie inside the limit."""
    request, response = loader.lines.request, loader.lines.response
    context.set(loader.base, BASE)
    context.set(request.ready, 1)
    waiting: list[int] = []
    context.set(loader.start, 1)
    while True:
        context.set(response.valid, bool(waiting))
        if waiting:
            line = image[LINE_BYTES * waiting[0] :][:LINE_BYTES]
            context.set(response.payload.bits, int.from_bytes(line, "little"))
        is_done, is_taken = context.get(loader.done), bool(waiting) and context.get(response.ready)
        if context.get(request.valid):
            waiting.append(context.get(request.payload.line) - BASE // LINE_BYTES)
            assert 0 <= waiting[-1] < limit // LINE_BYTES
        if is_taken:
            waiting.pop(0)
        status, size = context.get(loader.status), context.get(loader.image.size)
        words = [context.get(word) for word in loader.image.information]
        await context.tick()
        context.set(loader.start, 0)
        if is_done:
            assert not waiting
            assert status != Status.OK or context.get(loader.image.code) == BASE + _CODE_AT
            return status, size, words


def load(form: ProgramFormat, images: Sequence[bytes]) -> list[Loaded]:
    """What becomes of images, one after the other."""
    loader = ProgramLoader(form)
    found: list[Loaded] = []

    async def testbench(context: Any) -> None:
        for image in images:
            found.append(await load_one(context, loader, image, form.image_limit))

    simulate(loader, testbench)
    return found


@pytest.mark.parametrize("name", FORMATS)
def test_code_of_one_to_the_most_whole_units_is_loaded(name: str) -> None:
    form = FORMATS[name]
    most = form.most_units
    sizes = [units * form.unit_bytes for units in (1, 2, 3, most // 2, most - 1, most)]
    good = [executable(form, size) for size in sizes]
    assert load(form, good) == [(Status.OK, size // form.unit_bytes, information(form)) for size in sizes]
    wrong = [0, 1, form.unit_bytes - 1, form.unit_bytes + 1, (most + 1) * form.unit_bytes, most * form.unit_bytes - 1]
    assert {status for status, *_ in load(form, [executable(form, size) for size in wrong])} == {Status.BAD_EXECUTABLE}


@pytest.mark.parametrize("name", FORMATS)
def test_what_another_format_says_has_error(name: str) -> None:
    form = FORMATS[name]
    images = [executable(other, form.unit_bytes) for other in FORMATS.values() if other is not form]
    for other in FORMATS.values():
        if other is not form:
            images += [
                executable(form, form.unit_bytes, **{attribute: getattr(other, attribute)})
                for attribute in ("machine", "information", "version")
            ]
    # The loader works as before after each of them.
    results = load(form, [image for bad in images for image in (bad, executable(form, form.unit_bytes))])
    assert [status for status, *_ in results] == [Status.BAD_EXECUTABLE, Status.OK] * len(images)


@pytest.mark.parametrize("name", FORMATS)
def test_the_limit_of_an_image_is_its_formats(name: str) -> None:
    form = FORMATS[name]
    indices = [form.image_limit - form.unit_bytes + over for over in (4, form.unit_bytes, -2)]
    images = [executable(form, form.unit_bytes, at) for at in indices]
    assert {status for status, *_ in load(form, images)} == {Status.BAD_EXECUTABLE}


def test_the_note_of_a_draw_is_kept_until_the_next_load() -> None:
    form = replace(SMALL, pipeline=NoteType.R700_PIPELINE)
    words = list(range(elf.PIPELINE_INFORMATION_WORDS))
    described = executable(form, form.unit_bytes, draw=words)
    loader = ProgramLoader(form, draws=True)
    counts: list[int] = []

    async def testbench(context: Any) -> None:
        for image in (described, executable(form, form.unit_bytes)):
            await load_one(context, loader, image)
            for _ in range(5):
                await context.tick()
                counts.append(context.get(loader.image.pipelines))
        assert [context.get(word) for word in loader.image.pipeline] == words

    simulate(loader, testbench)
    assert counts == [1] * 5 + [0] * 5
