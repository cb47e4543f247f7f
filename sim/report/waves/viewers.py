"""The saved views of a wave, for GTKWave and for Surfer, and the texts of values that they show."""

from pathlib import Path

from ctm.rtl.config import MachineConfig
from ctm.rtl.dpp.watch import Wait
from ctm.sim.files import write_file
from ctm.sim.report.waves.texts import Programs, Texts, of_enumeration, of_instructions
from ctm.sim.report.waves.view import Kind, Section, view

_SUFFIXES = (".vcd.gz", ".vcd", ".fst")
_HEX, _DECIMAL, _TRANSLATED = 0x22, 0x24, 0x2000
_COMMENT = 0x200


def write_views(wave: Path, config: MachineConfig, programs: Programs) -> dict[Path, bool]:
    """Write the views of a wave beside it, each file completely or not at all; gives the views.

    A view that is there already may have been changed in its viewer, and is kept: those are True.

    Raises
    ------
    OSError
        One cannot be written.
    """
    stem = _stem(wave)
    texts = {
        Kind.STATE: of_enumeration(f"{stem} states", Wait, Wait.as_shape().width),
        Kind.INSTRUCTION: of_instructions(f"{stem} instructions", programs, config),
    }
    sections = view(config)
    folder = wave.absolute().parent
    filters = {kind: folder / f"{stem}.{kind.value}.txt" for kind in texts}
    found = {filters[kind]: each.filter() for kind, each in texts.items()}
    found |= {folder / f"{stem}.{kind.value}.mnemonic": each.mnemonics() for kind, each in texts.items()}
    views = {
        folder / f"{stem}.gtkw": gtkwave(wave.absolute(), folder / f"{stem}.gtkw", sections, filters),
        folder / f"{stem}.sucl": surfer(sections, texts),
    }
    kept = {path: path.exists() for path in views}
    found |= {path: text for path, text in views.items() if not kept[path]}
    for path, text in found.items():
        write_file(path, text.encode())
    return {wave.with_name(path.name): was_there for path, was_there in kept.items()}


def gtkwave(wave: Path, own: Path, sections: list[Section], filters: dict[Kind, Path]) -> str:
    """A save file of GTKWave, which names the files that it needs; moved together they are found again."""
    lines = [f'[dumpfile] "{wave}"', f'[savefile] "{own}"', "[timestart] 0", "[sst_width] 300", "[signals_width] 400"]
    for section in sections:
        lines += [f"@{_COMMENT:x}", f"-{section.name}"]
        for row in section.rows:
            flags = _DECIMAL if row.kind is Kind.NUMBER else _HEX
            if row.kind in filters:
                lines += [f"@{flags | _TRANSLATED:x}", f"^1 {filters[row.kind]}"]
            else:
                lines.append(f"@{flags:x}")
            lines.append(row.path if row.width == 1 else f"{row.path}[{row.width - 1}:0]")
    return "\n".join(lines) + "\n"


def surfer(sections: list[Section], texts: dict[Kind, Texts]) -> str:
    """A command file of Surfer."""
    lines = [f"# Formats, once their files are in Surfer's folder: {', '.join(each.name for each in texts.values())}"]
    for section in sections:
        lines.append(f"divider_add {section.name}")
        lines += [f"variable_add {row.path}" for row in section.rows]
    return "\n".join([*lines, "zoom_fit"]) + "\n"


def _stem(wave: Path) -> str:
    name = wave.name
    return next((name[: -len(suffix)] for suffix in _SUFFIXES if name.lower().endswith(suffix)), name)
