"""The forms in which the disassembler may write a TEX instruction, the most readable first."""

from collections.abc import Iterator

from ctm.rtl.isa.r5xx.opcodes import PredicateSelect, TextureOperation
from ctm.sim.assembler.r5xx.draft import Draft
from ctm.sim.assembler.r5xx.parser.texture import COORDINATES, IDENTITY
from ctm.sim.assembler.r5xx.printer.decoder import legal
from ctm.sim.assembler.r5xx.printer.phrases import mask_text, predicate_text
from ctm.sim.assembler.r5xx.syntax import CHANNELS, Predicate


def texture_candidates(draft: Draft) -> Iterator[str]:
    """Texts without flags; the last one can say most."""
    operation = TextureOperation(draft.get("tex_inst")["inst"])
    predicates = _predicates(draft)
    mask = _mask(draft)
    if operation is TextureOperation.NOP:
        yield f"{predicates}NOP"
    elif operation is TextureOperation.KILL_LT_0:
        yield f"{predicates}KILL_LT_0({_temporary(draft, 'tex_addr', 'src')}{mask})"
    arguments = [f"i{draft.get('tex_inst')['tex_id']}", _coordinates(draft, "tex_addr", "src")]
    if operation is TextureOperation.DXDY:
        arguments += [_coordinates(draft, "tex_addr_dxdy", name) for name in ("dx", "dy")]
    result = _swizzle(draft, "tex_addr", [f"dst_{channel}_swiz" for channel in CHANNELS])
    destination = f"{_temporary(draft, 'tex_addr', 'dst')}{mask}"
    yield f"{predicates}{destination} = {operation.name}({', '.join(arguments)}){result}"


def _predicates(draft: Draft) -> str:
    common = draft.get("common")
    rgb, alpha = (
        Predicate(legal(PredicateSelect, common[f"{unit}_pred_sel"]), bool(common[f"{unit}_pred_inv"]))
        for unit in ("rgb", "alpha")
    )
    if rgb != alpha:
        return f"({predicate_text(rgb)}, {predicate_text(alpha)}) "
    return f"({predicate_text(rgb)}) " if rgb != Predicate() else ""


def _mask(draft: Draft) -> str:
    common = draft.get("common")
    bits = common["rgb_wmask"] | common["alpha_wmask"] << 3
    return mask_text("".join(letter for bit, letter in enumerate(CHANNELS) if bits >> bit & 1), may_be_full=True)


def _temporary(draft: Draft, word: str, name: str) -> str:
    fields = draft.get(word)
    return f"r{fields[f'{name}_addr']}{'[aL]' if fields[f'{name}_addr_rel'] else ''}"


def _coordinates(draft: Draft, word: str, name: str) -> str:
    swizzle = _swizzle(draft, word, [f"{name}_{coordinate}_swiz" for coordinate in COORDINATES])
    return f"{_temporary(draft, word, name)}{swizzle}"


def _swizzle(draft: Draft, word: str, fields: list[str]) -> str:
    codes = draft.get(word)
    letters = "".join(CHANNELS[codes[field]] for field in fields)
    if letters == IDENTITY:
        return ""
    return f".{letters[0] if len(set(letters)) == 1 else letters}"
