"""Writes one instruction as text: the most readable form that means it, or the nearest one with overrides."""

from collections.abc import Iterable, Mapping

from ctm.rtl.isa.r5xx.opcodes import InstructionType
from ctm.sim.assembler.cursor import Cursor
from ctm.sim.assembler.error import SourceError
from ctm.sim.assembler.r5xx.draft import Draft, field_names
from ctm.sim.assembler.r5xx.parser.options import COMMON_FLAGS, STATISTICS
from ctm.sim.assembler.r5xx.parser.statement import WORD_DIRECTIVE, Item, parse_statement
from ctm.sim.assembler.r5xx.parser.texture import TEXTURE_FLAGS
from ctm.sim.assembler.r5xx.printer.candidates import arithmetic_candidates
from ctm.sim.assembler.r5xx.printer.texture import texture_candidates
from ctm.sim.assembler.tokens import statements

_KEYWORDS = {InstructionType.ALU: "ALU", InstructionType.OUTPUT: "OUT", InstructionType.TEX: "TEX"}


def instruction_text(draft: Draft, *, uncached_writes: bool) -> str:
    """An instruction that is not flow control."""
    if draft.kind is InstructionType.TEX:
        candidates = texture_candidates(draft)
    else:
        candidates = arithmetic_candidates(draft, uncached_writes=uncached_writes)
    keyword = _KEYWORDS[draft.kind]
    texts = (f"{keyword} {candidate.lstrip()}".rstrip() for candidate in candidates)
    return fit(texts, draft, uncached_writes=uncached_writes)


def fit(candidates: Iterable[str], draft: Draft, *, uncached_writes: bool) -> str:
    """The first candidate that, with the flags, means the instruction; else the nearest, with overrides."""
    flags = flags_text(draft)
    best: tuple[str, dict[str, int]] | None = None
    for candidate in candidates:
        text = f"{candidate}{flags}"
        item = parse_text(text, uncached_writes=uncached_writes)
        if item is None:
            continue
        _aim(item)
        differences = _differences(item.draft, draft)
        if not differences:
            return text
        if best is None or len(differences) < len(best[1]):
            best = text, differences
    if best is None:
        return f"{WORD_DIRECTIVE} {', '.join(f'0x{word:08x}' for word in draft.words)}"
    overrides = ", ".join(f"{name}={value}" for name, value in best[1].items())
    return f"{best[0]} {{{overrides}}}"


def parse_text(text: str, *, uncached_writes: bool) -> Item | None:
    """The instruction that a text means, None if it is none."""

    def fail(error: SourceError) -> None:
        raise error

    try:
        return parse_statement(Cursor(next(statements(text, fail)), {}), uncached_writes=uncached_writes)
    except SourceError:
        return None


def flags_text(draft: Draft) -> str:
    """The flags of an instruction, each with a space before it."""
    flags: Mapping[str, tuple[str, str]] = TEXTURE_FLAGS if draft.kind is InstructionType.TEX else COMMON_FLAGS
    words = [flag for flag, (word, name) in flags.items() if draft.get(word)[name]]
    statistics = draft.get("common")["stat_we"]
    if statistics:
        words.append(f"{STATISTICS}({statistics})")
    return "".join(f" {word}" for word in words)


def _aim(item: Item) -> None:
    """Write a target that is a number."""
    if item.flow is not None and item.flow.target is not None:
        item.draft.set("fc_addr", jump_addr=int(item.flow.target.text))


def _differences(found: Draft, wanted: Draft) -> dict[str, int]:
    """The fields that differ, by their shortest name, with the value that is wanted."""
    if found.words == wanted.words:
        return {}
    named = {location[:2]: name for name, location in field_names(wanted.kind).items()}
    return {
        name: wanted.get(word)[field]
        for (word, field), name in named.items()
        if found.get(word)[field] != wanted.get(word)[field]
    }
