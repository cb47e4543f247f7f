"""Files that broke off are called truncated, wherever that was."""

import json
from pathlib import Path

import pytest

from ctm.sim.assembler import assemble
from ctm.sim.elf import ElfError, ShaderError, read, read_shader, write
from ctm.sim.elf.r700.llvm.objects import read_object

SOURCE = "TEX r1 = LOOKUP(i0, r0.rg) unscaled\nOUT o0 = MOV(r1)\n"
OBJECT = Path(__file__).parents[1] / "data" / "r700" / "llvm" / "o" / "insertion_sort_llvm.o"
DOCUMENT = {
    "instructions": [["0x00000000"] * 6], "start": 0, "end": 0, "highest_temporary": 1, "US_CONFIG": "0x2",
    "US_FC_CTRL": 0, "US_W_FMT": 0, "FG_DEPTH_SRC": 0,
}  # fmt: skip


def test_an_executable_is_truncated_at_every_byte() -> None:
    whole = write(assemble(SOURCE))
    read(whole)
    for size in range(1, len(whole)):
        with pytest.raises(ElfError, match=rf"the file is truncated: it takes [\d,]+ bytes, and has {size:,}$"):
            read(whole[:size])
    with pytest.raises(ElfError, match="the file is empty"):
        read(b"")


def test_so_is_one_without_section_headers() -> None:
    """Only its program headers say where it ends."""
    whole = bytearray(write(assemble(SOURCE)))
    sections_at = int.from_bytes(whole[32:36], "little")
    whole[32:36], whole[46:52] = bytes(4), bytes(6)
    notes_end = sections_at - 200
    read(bytes(whole[:sections_at]))
    for size in range(1, notes_end - 40, 7):
        with pytest.raises(ElfError, match="truncated"):
            read(bytes(whole[:size]))


def test_an_object_of_llvm_is_truncated_at_every_byte() -> None:
    whole = OBJECT.read_bytes()
    read_object(whole)
    for size in range(1, len(whole), 3):
        with pytest.raises(ElfError, match="the file is truncated"):
            read_object(whole[:size])


def test_a_document_is_truncated_at_every_byte() -> None:
    text = json.dumps(DOCUMENT, indent=1)
    for size in range(1, len(text)):
        with pytest.raises(ShaderError, match="not a JSON document, the file is truncated"):
            read_shader(text[:size])
    with pytest.raises(ShaderError, match="the file is empty"):
        read_shader("\n")
    with pytest.raises(ShaderError, match="not a JSON document: arrays or objects are too deeply nested"):
        read_shader("[" * 100_000)
    with pytest.raises(ShaderError, match="not a JSON document: Expecting") as caught:
        read_shader(text.replace(":", ";", 1))
    assert "truncated" not in str(caught.value)
