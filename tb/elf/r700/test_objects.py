"""Objects of LLVM become executables, repaired or rejected."""

import json
import struct
from pathlib import Path

import numpy as np
import pytest

from ctm.rtl.isa.r700.program import ProgramType
from ctm.sim.elf import ElfError
from ctm.sim.elf.r700.llvm.objects import read_object

FOLDER = Path(__file__).parents[2] / "data" / "r700" / "llvm"
NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))
REPAIRED = "repaired: 4 MOVA_INT with Evergreen's number, 0xcc instead of 0x18"
_ALU, _TEX, _PUSH, _JUMP, _END = 0xA0000000, 0x80800000, 0xA4000000, 0x85000000, 0x80200000
_MOVA_INT = 0x18 << 7
_RESOURCES = 0x28850


def document(name: str) -> dict[str, object]:
    found: dict[str, object] = json.loads((FOLDER / f"{name}.json").read_text())
    return found


def test_all_are_there() -> None:
    assert len(NAMES) == 47


@pytest.mark.parametrize("name", NAMES)
def test_an_object_is_the_words_of_its_json(name: str) -> None:
    wanted = document(name)
    executable, said = read_object((FOLDER / str(wanted["object"])).read_bytes())
    words = [f"0x{word:08x}" for unit in executable.code for word in unit]
    assert words == wanted["dwords"]
    assert (executable.gprs, executable.stack_size) == (wanted["gprs"], wanted["stack"])
    assert (executable.dx10_clamp, executable.texture_base) == (bool(wanted["dx10_clamp"]), wanted["texture_base"])
    assert executable.type is ProgramType.PS
    repairs = wanted["repairs"]
    assert isinstance(repairs, dict)
    assert said == ([REPAIRED] if repairs["mova"] else [])


def an_object(
    units: list[tuple[int, int]], *, resources: int = 2 | 1 << 8, register: int = _RESOURCES, flags: int = 7,
    machine: int = 224, configuration: bytes | None = None,
) -> bytes:  # fmt: skip
    """An object with `units` of code, as small as can be."""
    text = b"".join(struct.pack("<2I", *unit) for unit in units)
    config = struct.pack("<2I", register, resources) if configuration is None else configuration
    names = b"\0.text\0.AMDGPU.config\0.shstrtab\0"
    contents_of_all, at, sections = b"", 52, [bytes(40)]
    for name, kind, contents in ((b".text", 1, text), (b".AMDGPU.config", 1, config), (b".shstrtab", 3, names)):
        header = (names.index(name + b"\0"), kind, 0, 0, at, len(contents), 0, 0, 4, 0)
        sections.append(struct.pack("<10I", *header))
        contents_of_all, at = contents_of_all + contents, at + len(contents)
    return (
        struct.pack(
            "<4s5B7xHHIIIIIHHHHHH", b"\x7fELF", 1, 1, 1, 0, 0, 1, machine, 1, 0, 0, at, flags, 52, 0, 0, 40,
            len(sections), len(sections) - 1,
        )
        + contents_of_all
        + b"".join(sections)
    )  # fmt: skip


NOP = (0, _END)


def test_a_small_object_is_read() -> None:
    executable, said = read_object(an_object([NOP], resources=5 | 3 << 8 | 1 << 21))
    assert (executable.code, executable.gprs, executable.stack_size, executable.dx10_clamp) == ((NOP,), 5, 3, True)
    assert said == []


def test_a_plain_function_starts_with_integers() -> None:
    executable, _ = read_object(an_object([NOP], register=0x28868))
    assert executable.type is ProgramType.CS


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        (an_object([NOP], machine=3), "no object for AMDGPU"),
        (an_object([NOP], flags=9), "compiled for chip 9, not 7: -mcpu=rv770"),
        (an_object([]), "its code has 0 bytes"),
        (an_object([NOP] * 8193), "its code has 65544 bytes"),
        (an_object([NOP], resources=125), "125 registers, not 1 to 124: LLVM took clause temporaries"),
        (an_object([NOP], resources=0), "0 registers, not 1 to 124"),
        (an_object([NOP], resources=1 | 65 << 8), "its stack has 65 entries"),
        (an_object([NOP], register=0x12345), "does not set 0x28850 or 0x28868"),
        (an_object([NOP], configuration=bytes(9)), "9 bytes, which are no pairs of words"),
        (b"\x7fELF", "the file is truncated: it takes 52 bytes, and has 4"),
        (b"", "the file is empty"),
        (b"no ELF file" * 10, "no object of LLVM"),
    ],
)
def test_no_program_for_this_chip_is_an_error(contents: bytes, message: str) -> None:
    with pytest.raises(ElfError, match=message):
        read_object(contents)


def test_every_truncation_and_many_damages_end_in_an_error_or_a_program() -> None:
    contents = (FOLDER / "o" / "insertion_sort_llvm.o").read_bytes()
    for size in range(0, len(contents), 29):
        with pytest.raises(ElfError):
            read_object(contents[:size])
    generator = np.random.default_rng(1)
    for _ in range(300):
        damaged = bytearray(contents)
        for at in generator.integers(0, len(contents), generator.integers(1, 8)):
            damaged[at] = generator.integers(0, 256)
        try:
            read_object(bytes(damaged))
        except ElfError as error:
            assert str(error)


def clause(address: int, units: int, word: int = _ALU) -> tuple[int, int]:
    return address, word | units - 1 << 18


def move(
    source: tuple[int, int], target: tuple[int, int], *, relative: bool = False, last: bool = True
) -> tuple[int, int]:
    """A MOV between channels of registers; with `relative` the destination is relative to AR.x."""
    low = source[0] | source[1] << 10 | last << 31
    return low, 1 << 4 | 0x19 << 7 | target[0] << 21 | relative << 28 | target[1] << 29


def add(source: tuple[int, int], target: tuple[int, int]) -> tuple[int, int]:
    low = source[0] | source[1] << 10 | source[0] << 13 | source[1] << 23 | 1 << 31
    return low, 1 << 4 | target[0] << 21 | target[1] << 29


def fetch(source: int, target: int) -> list[tuple[int, int]]:
    """SAMPLE of input 0 at x, y of a register into a register."""
    return [(0x10 | source << 16, target | 0x688 << 9), (0 << 20 | 1 << 23 | 4 << 26 | 4 << 29, 0)]


def after_push(fetched: tuple[int, int], arithmetic: tuple[int, int]) -> list[tuple[int, int]]:
    """A fetch clause between ALU_PUSH_BEFORE and its JUMP; `fetched` are the registers it reads and writes."""
    words = [clause(6, 1, _PUSH), (8, _TEX), (4, _JUMP | 1), (0, 0x80000000), (0, _END), (0, 0)]
    return [*words, arithmetic, (0, 0), *fetch(*fetched)]


def test_a_fetch_clause_after_a_push_is_moved_before_it() -> None:
    units = after_push((1, 2), add((0, 0), (3, 0)))
    executable, said = read_object(an_object(units, resources=4 | 1 << 8))
    assert executable.code[:3] == (units[1], units[0], units[2])
    assert executable.code[3:] == tuple(units[3:])
    assert said == ["repaired: 1 fetch clauses between ALU_PUSH_BEFORE and its JUMP, moved in front of both"]


@pytest.mark.parametrize("fetched", [(3, 2), (1, 0), (1, 3)])
def test_a_fetch_that_depends_on_the_condition_is_an_error(fetched: tuple[int, int]) -> None:
    units = after_push(fetched, add((0, 0), (3, 0)))
    with pytest.raises(ElfError, match="CF instruction 0: LLVM put a fetch between a condition and its jump"):
        read_object(an_object(units, resources=4 | 1 << 8))


def test_a_relative_operand_of_the_condition_may_be_any_register_but_only_its_channel() -> None:
    low, high = move((0, 3), (3, 3))
    relative = low | 1 << 9, high
    with pytest.raises(ElfError, match="depends on the condition"):
        read_object(an_object(after_push((1, 2), relative), resources=4 | 1 << 8))
    units = after_push((1, 2), relative)
    # Only x, y and z are fetched.
    units[8] = units[8][0], 2 | (0 | 1 << 3 | 2 << 6 | 7 << 9) << 9
    executable, said = read_object(an_object(units, resources=4 | 1 << 8))
    assert executable.code[0] == units[1]
    assert len(said) == 1


def test_the_number_of_mova_is_repaired() -> None:
    evergreen = (1 << 31, 0xCC << 7)
    executable, said = read_object(an_object([clause(2, 1), NOP, evergreen]))
    assert executable.code[2] == (1 << 31, _MOVA_INT)
    assert said == ["repaired: 1 MOVA_INT with Evergreen's number, 0xcc instead of 0x18"]


def test_a_group_that_reads_an_array_after_an_indexed_write_is_an_error() -> None:
    group = [move((2, 0), (1, 0), relative=True, last=False), move((1, 0), (3, 1))]
    with pytest.raises(ElfError, match="CF instruction 0: LLVM made a group that reads an array"):
        read_object(an_object([clause(2, 2), NOP, *group], resources=4))
    # Another operation touches the register: it is no array.
    read_object(an_object([clause(2, 3), NOP, *group, add((1, 0), (2, 1))], resources=4))


def test_arithmetic_among_control_flow_and_clauses_cut_off_are_errors() -> None:
    with pytest.raises(ElfError, match="CF instruction 1: LLVM made arithmetic among control flow"):
        read_object(an_object([clause(3, 1), (0, 0x10 << 23), NOP, add((0, 0), (1, 0))]))
    # One that has the number of a NOP, and no barrier.
    with pytest.raises(ElfError, match="CF instruction 1: LLVM made arithmetic among control flow"):
        read_object(an_object([clause(3, 1), (0x600000FD, 0x40200C90), NOP, add((0, 0), (1, 0))]))
    low, high = add((0, 0), (1, 0))
    for units in ([clause(2, 2), NOP, (low & 0x7FFFFFFF, high), (low & 0x7FFFFFFF, high)], [clause(2, 9), NOP]):
        with pytest.raises(ElfError, match="CF instruction 0: LLVM made a clause that is cut off"):
            read_object(an_object(units))
