"""Writes CF instructions as text."""

from ctm.rtl.isa.r700.control_flow import KcacheMode
from ctm.rtl.isa.r700.exports import COMPUTED_DEPTH, ExportType, MemoryWrite
from ctm.rtl.isa.r700.limits import KCACHE_LINE_ROWS, KCACHE_SETS
from ctm.sim.assembler.r700.form import CLAUSE, CONTROL, SWIZZLED, Draft
from ctm.sim.assembler.r700.groups.view import register_text
from ctm.sim.assembler.r700.names import COMPONENTS, CONDITION_NAMES, INDEX_NAMES, SELECTS, name_of
from ctm.sim.assembler.r700.parser.control import (
    AIMLESS,
    LOCKED_LINES,
    count_of,
    default_element,
    parse_word,
    starts_fetch,
)
from ctm.sim.assembler.r700.printer.fitting import cursor_of, swizzle_text, with_overrides

_LOOP_INDEX = next(code for code, name in INDEX_NAMES.items() if name == "aL")
_TARGETS = {kind.value: kind.name for kind in ExportType} | {ExportType.PIXEL.value: "PIX"}


def has_target(draft: Draft) -> bool:
    """Whether a word goes somewhere or starts a clause; or has an address that is not 0 all the same."""
    if draft.form is CLAUSE:
        return True
    return draft.form is CONTROL and (draft.get("cf_inst") not in AIMLESS or draft.get("addr") != 0)


def word_text(draft: Draft, target: str) -> str:
    """A CF instruction; `target` is what its address is called."""
    address = str(draft.get("addr")) if has_target(draft) else ""
    text = _text(draft, address)
    word = parse_word(cursor_of(text))
    if address:
        word.draft.set("addr", draft.get("addr"))
    text = with_overrides(text, word.draft, draft)
    return text.replace(f"ADDR({address})", f"ADDR({target})", 1)


def _text(draft: Draft, address: str) -> str:
    name = name_of(draft.form, draft.get("cf_inst"))
    if draft.form is CLAUSE:
        words = [f"{name} ADDR({address}) CNT({count_of(draft)})", *_locks(draft), *_ones(draft, alt_const="ALT_CONST")]
    elif draft.form is CONTROL:
        words = [name, *([f"ADDR({address})"] if address else []), *_control(draft)]
    else:
        words = [name, *(_export(draft) if draft.form is SWIZZLED else _memory_write(draft))]
    ones = {"end_of_program": "END_OF_PROGRAM", "valid_pixel_mode": "VALID_PIX", "whole_quad_mode": "WHOLE_QUAD"}
    words += _ones(draft, **ones)
    return " ".join([*words, *([] if draft.get("barrier") else ["NO_BARRIER"])])


def _ones(draft: Draft, **names: str) -> list[str]:
    return [name for field, name in names.items() if field in draft.form.fields and draft.get(field)]


def _numbers(draft: Draft, **names: str) -> list[str]:
    return [f"{name}({draft.get(field)})" for field, name in names.items() if draft.get(field)]


def _control(draft: Draft) -> list[str]:
    found = [f"CNT({count_of(draft)})"] if starts_fetch(draft) else []
    found += _numbers(draft, pop_count="POP_CNT")
    found += [f"COND({CONDITION_NAMES[draft.get('cond')]})"] if draft.get("cond") else []
    return found + _numbers(draft, cf_const="CF_CONST", call_count="CALL_COUNT")


def _locks(draft: Draft) -> list[str]:
    found = []
    for number in range(KCACHE_SETS):
        bank, line, mode = (draft.get(f"kcache_{field}{number}") for field in ("bank", "addr", "mode"))
        first = line * KCACHE_LINE_ROWS
        if mode == KcacheMode.LOCK_LOOP_INDEX.value:
            found.append(f"KCACHE{number}(CB{bank}:{first}+aL)")
        elif mode != KcacheMode.NOP.value:
            found.append(
                f"KCACHE{number}(CB{bank}:{first}-{first + LOCKED_LINES[KcacheMode(mode)] * KCACHE_LINE_ROWS - 1})"
            )
    return found


def _export(draft: Draft) -> list[str]:
    kind, number = draft.get("type"), draft.get("array_base")
    target = f"{_TARGETS.get(kind, _TARGETS[0])}{number}"
    if kind == ExportType.PIXEL.value and number == COMPUTED_DEPTH:
        target = "DEPTH"
    selects = [draft.get(f"sel_{component}") for component in COMPONENTS]
    return [f"{target}, {_register(draft)}{swizzle_text(selects, SELECTS)}", *_sizes(draft)]


def _memory_write(draft: Draft) -> list[str]:
    mask = "".join(letter if draft.get("comp_mask") >> at & 1 else "_" for at, letter in enumerate(COMPONENTS))
    kind = draft.get("type")
    index = f"+R{draft.get('index_gpr')}" if kind & MemoryWrite.WRITE_IND.value else ""
    found = [f"{_register(draft)}.{mask}, [{draft.get('array_base')}{index}]", *_sizes(draft)]
    size = draft.get("array_size") + 1
    found += [f"ARRAY_SIZE({size})"] if size != draft.form.limit("array_size") else []
    return found + (["ACK"] if kind & MemoryWrite.WRITE_ACK.value else [])


def _register(draft: Draft) -> str:
    return register_text(draft.get("rw_gpr"), _LOOP_INDEX if draft.get("rw_rel") else None)


def _sizes(draft: Draft) -> list[str]:
    burst, element = draft.get("burst_count") + 1, draft.get("elem_size") + 1
    found = [f"BURST({burst})"] if burst > 1 else []
    return found + ([f"ELEM_SIZE({element})"] if element != default_element(draft) else [])
