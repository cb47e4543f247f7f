"""Reads an object of LLVM's R600 back end: its code, and the registers that it wants set.

Source: LLVM 22, R600 back end: `.AMDGPU.config` holds pairs of a register's address and its value.
"""

import struct
from io import BytesIO

from amaranth.lib import data
from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from ctm.rtl.isa.r700.limits import CODE_UNITS, FIRST_CLAUSE_TEMPORARY, STACK_ENTRIES, UNIT_BYTES
from ctm.rtl.isa.r700.program import ProgramType
from ctm.rtl.isa.word import unpack
from ctm.sim.elf.error import ElfError
from ctm.sim.elf.lines import Lines
from ctm.sim.elf.r700.executable import Executable, Unit
from ctm.sim.elf.r700.llvm.defects import check_defects
from ctm.sim.elf.r700.llvm.lines import lines_of
from ctm.sim.elf.r700.llvm.repairs import repair
from ctm.sim.elf.r700.usage import usage
from ctm.sim.elf.whole import check_whole

_MACHINE = "EM_AMDGPU"
_RV770 = 7
"""e_flags of objects for this chip."""
_FLAGS_AT = 36
_MACHINE_AT = 18
_CONFIGURATION = ".AMDGPU.config"
_CODE = ".text"
_RESOURCES = data.StructLayout({"gprs": 8, "stack_size": 8, "reserved": 5, "dx10_clamp": 1, "others": 10})
"""SQ_PGM_RESOURCES."""
_PROGRAM_TYPES = {0x28850: ProgramType.PS, 0x28868: ProgramType.CS}
"""SQ_PGM_RESOURCES_PS of pixel shaders; _VS of plain functions, which take integers in R0."""


def read_object(contents: bytes) -> tuple[Executable, list[str]]:
    """The program in an object, and what was repaired in it, a sentence each.

    Raises
    ------
    ElfError
        It is no object for the RV770 with one program, or has a defect of LLVM that cannot be repaired.
    """
    check_whole(contents)
    try:
        file = ELFFile(BytesIO(contents))
        _check_header(file)
        sections = {section.name: section.data() for section in file.iter_sections()}
        code, first, code_at = _code(file)
    except (ELFError, ValueError, KeyError, struct.error, OverflowError, MemoryError, UnicodeDecodeError) as error:
        raise ElfError(f"no object of LLVM: {error}", 0) from None
    if _CONFIGURATION not in sections:
        raise ElfError(f"it has no section {_CONFIGURATION}", 0)
    kind, resources = _resources(sections[_CONFIGURATION])
    units = _units(code, code_at)
    lines = lines_of(file, first, len(units))
    repairs = repair(units, lines)
    check_defects(units)
    if not 1 <= resources["gprs"] <= FIRST_CLAUSE_TEMPORARY:
        detail = "LLVM took clause temporaries for registers" if resources["gprs"] else "it has none"
        raise ElfError(f"it has {resources['gprs']} registers, not 1 to {FIRST_CLAUSE_TEMPORARY}: {detail}", 0)
    if resources["stack_size"] > STACK_ENTRIES:
        raise ElfError(f"its stack has {resources['stack_size']} entries, more than {STACK_ENTRIES}", 0)
    executable = Executable(
        code=tuple(units),
        type=kind,
        gprs=resources["gprs"],
        stack_size=resources["stack_size"],
        dx10_clamp=bool(resources["dx10_clamp"]),
        depth=usage(units, 0, 0).depth,
        lines=Lines(tuple(lines)) if any(lines) else None,
    )
    return executable, repairs


def _check_header(file: ELFFile) -> None:
    if file["e_machine"] != _MACHINE or file.elfclass != 32 or not file.little_endian:
        raise ElfError("it is no object for AMDGPU (ELF32): compile with --target=r600 -mcpu=rv770", _MACHINE_AT)
    if file["e_flags"] != _RV770:
        raise ElfError(f"it is compiled for chip {file['e_flags']}, not {_RV770}: -mcpu=rv770", _FLAGS_AT)


def _code(file: ELFFile) -> tuple[bytes, int, int]:
    """The code of the one function, and where it is in its section and in the file."""
    text = file.get_section_by_name(_CODE)
    if text is None:
        raise ElfError(f"it has no section {_CODE}", 0)
    index = file.get_section_index(_CODE)
    functions = [
        symbol
        for table in file.iter_sections()
        if isinstance(table, SymbolTableSection)
        for symbol in table.iter_symbols()
        if symbol["st_shndx"] == index and symbol["st_info"]["type"] in ("STT_FUNC", "STT_AMDGPU_HSA_KERNEL")
    ]
    if len(functions) > 1:
        names = ", ".join(symbol.name for symbol in functions)
        raise ElfError(f"it has {len(functions)} functions instead of one program: {names}", text["sh_offset"])
    contents = text.data()
    if functions:
        first, size = functions[0]["st_value"], functions[0]["st_size"]
        contents = contents[first : first + size] if size else contents[first:]
        return contents, first, text["sh_offset"] + first
    return contents, 0, text["sh_offset"]


def _resources(configuration: bytes) -> tuple[ProgramType, dict[str, int]]:
    if len(configuration) % 8:
        raise ElfError(f"{_CONFIGURATION} has {len(configuration)} bytes, which are no pairs of words", 0)
    registers = dict(struct.iter_unpack("<II", configuration))
    for address, kind in _PROGRAM_TYPES.items():
        if address in registers:
            return kind, unpack(_RESOURCES, registers[address])
    wanted = " or ".join(f"0x{address:05x}" for address in _PROGRAM_TYPES)
    raise ElfError(f"{_CONFIGURATION} does not set {wanted}: it is no pixel shader", 0)


def _units(code: bytes, at: int) -> list[Unit]:
    if not code or len(code) % UNIT_BYTES or len(code) > UNIT_BYTES * CODE_UNITS:
        limits = f"1 to {CODE_UNITS} units of {UNIT_BYTES}"
        raise ElfError(f"its code has {len(code)} bytes, which are not {limits}", at)
    return list(struct.iter_unpack("<II", code))
