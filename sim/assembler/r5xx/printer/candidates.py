"""The forms in which the disassembler may write an ALU or OUTPUT instruction, the most readable first."""

from collections.abc import Iterator
from dataclasses import replace

from ctm.rtl.isa.r5xx.opcodes import AlphaOperation, RgbOperation
from ctm.rtl.isa.r5xx.operations import RGB_DOT_PRODUCTS, TRANSCENDENTALS
from ctm.sim.assembler.r5xx.draft import Draft
from ctm.sim.assembler.r5xx.parser.arithmetic import ALPHA_SOURCES, RGB_SOURCES
from ctm.sim.assembler.r5xx.printer.decoder import Decoder
from ctm.sim.assembler.r5xx.printer.phrases import half_text, sources_text
from ctm.sim.assembler.r5xx.syntax import CHANNELS, Destination, Half, Operand, Target, Unit
from ctm.sim.assembler.tokens import PARALLEL

_DOT_PRODUCTS = {operation.name for operation in RGB_DOT_PRODUCTS}
_SCALAR = {operation.name for operation in TRANSCENDENTALS}


def arithmetic_candidates(draft: Draft, *, uncached_writes: bool) -> Iterator[str]:
    """Texts without flags; some mean the instruction, and all of them mean something near it."""
    decoder = Decoder(draft, uncached_writes)
    by_slot = Decoder(draft, uncached_writes, by_slot=True)
    rgb_sources = sources_text(RGB_SOURCES, decoder.given(Unit.RGB))
    alpha_sources = sources_text(ALPHA_SOURCES, decoder.given(Unit.ALPHA))
    forms = list(_forms(decoder))
    for sources in ("", f" {rgb_sources}", f" {alpha_sources}", f" {rgb_sources} {alpha_sources}"):
        for form in forms:
            yield f"{form}{sources}"
    for form in _forms(by_slot):
        yield f"{form} {rgb_sources} {alpha_sources}"


def _forms(decoder: Decoder) -> Iterator[str]:
    """None, joint, one half that implies the other or stands alone, both."""
    rgb, alpha = decoder.half(Unit.RGB), decoder.half(Unit.ALPHA)
    if not rgb.destinations and not alpha.destinations:
        yield ""
    joint = _joint(decoder, rgb, alpha)
    if joint is not None:
        yield half_text(joint)
    wide = _with_fourth(decoder, rgb)
    if not alpha.destinations:
        yield half_text(_crossed(wide, alpha, _SCALAR))
        yield half_text(wide)
    if not rgb.destinations:
        yield half_text(_crossed(alpha, wide, _DOT_PRODUCTS))
        yield half_text(alpha)
    yield f"{half_text(wide)} {PARALLEL} {half_text(alpha)}"
    if rgb.operation == RgbOperation.DP4.name and alpha.operation == AlphaOperation.DP.name:
        fourth = replace(alpha, operands=(decoder.operand(Unit.ALPHA, "a"), decoder.operand(Unit.ALPHA, "b")))
        yield f"{half_text(rgb)} {PARALLEL} {half_text(fourth)}"


def _crossed(half: Half, other: Half, operations: set[str]) -> Half:
    """A half that names the operation of the other unit, which computes for it."""
    if other.operation not in operations:
        return half
    return replace(half, operation=other.operation, operands=other.operands)


def _with_fourth(decoder: Decoder, rgb: Half) -> Half:
    """DP4 with its fourth components in the operands, where these are of the same source."""
    if rgb.operation != RgbOperation.DP4.name:
        return rgb
    operands = [
        _merged(operand, decoder.operand(Unit.ALPHA, name)) or operand
        for operand, name in zip(rgb.operands, "ab", strict=True)
    ]
    return replace(rgb, operands=tuple(operands))


def _merged(rgb: Operand, alpha: Operand) -> Operand | None:
    """One operand of four letters, if both units read the same."""
    same = (rgb.negative, rgb.absolute) == (alpha.negative, alpha.absolute)
    sources = {operand.source for operand in (rgb, alpha) if operand.source is not None}
    if not same or len(sources) > 1:
        return None
    source = sources.pop() if sources else None
    return replace(rgb, source=source, swizzle=f"{rgb.swizzle}{alpha.swizzle}")


def _joint(decoder: Decoder, rgb: Half, alpha: Half) -> Half | None:
    """Both halves as one, if they do the same with the same."""
    same = (rgb.predicate, rgb.modifier, rgb.clamp) == (alpha.predicate, alpha.modifier, alpha.clamp)
    destinations = _joint_destinations(rgb, alpha)
    if not same or destinations is None:
        return None
    joint = replace(rgb, unit=Unit.JOINT, destinations=destinations)
    if rgb.operation == RgbOperation.SOP.name and alpha.operation in _SCALAR:
        return replace(joint, operation=alpha.operation, operands=alpha.operands)
    if rgb.operation in _DOT_PRODUCTS and alpha.operation == AlphaOperation.DP.name:
        return replace(joint, operands=_with_fourth(decoder, rgb).operands)
    if rgb.operation != alpha.operation:
        return None
    operands = [_merged(*pair) for pair in zip(rgb.operands, alpha.operands, strict=True)]
    merged = tuple(operand for operand in operands if operand is not None)
    return replace(joint, operands=merged) if len(merged) == len(operands) else None


def _joint_destinations(rgb: Half, alpha: Half) -> tuple[Destination, ...] | None:
    """The destinations of both halves, each with the channels of both."""
    found = []
    remaining = {destination.target: destination for destination in alpha.destinations}
    for destination in rgb.destinations:
        if destination.target in (Target.ALU_RESULT, Target.UMRT):
            found.append(destination)
            continue
        partner = remaining.pop(destination.target, None)
        if partner is None or replace(partner, mask=destination.mask) != destination:
            return None
        mask = f"{destination.mask}{partner.mask}"
        found.append(replace(destination, mask=None if mask == CHANNELS else mask))
    if any(target not in (Target.ALU_RESULT, Target.CONDITIONAL) for target in remaining):
        return None
    return (*found, *remaining.values()) or None
