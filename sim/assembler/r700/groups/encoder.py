"""Writes the words of an ALU instruction."""

from collections.abc import Mapping

from ctm.sim.assembler.r700.form import OP2, Draft
from ctm.sim.assembler.r700.names import COMPONENTS
from ctm.sim.assembler.r700.syntax import Instruction, Source


def encode(
    instruction: Instruction, *, slot: int | None, channels: Mapping[int, int], swizzle: int, last: bool
) -> Draft:
    """The words of an instruction.

    `channels` says which literal of the group holds a word; `swizzle` is the bank swizzle if none is written.
    """
    form, code = instruction.opcode
    draft = Draft(form)
    destination = instruction.destination
    channel = destination.channel
    if channel is None:
        channel = slot if slot is not None and slot < len(COMPONENTS) else 0
    draft.write(
        alu_inst=code,
        index_mode=instruction.index_mode or 0,
        pred_sel=instruction.predicate,
        last=last,
        bank_swizzle=swizzle if instruction.swizzle is None else instruction.swizzle,
        dst_gpr=destination.gpr,
        dst_rel=destination.relative,
        dst_chan=channel,
        clamp=instruction.clamp,
    )
    if form is OP2:
        draft.write(
            update_execute_mask=instruction.update_execute_mask,
            update_pred=instruction.update_predicate,
            write_mask=not destination.masked,
            omod=instruction.omod,
        )
    for number, source in enumerate(instruction.sources):
        _encode_source(draft, number, source, channels)
    for name, value in instruction.overrides:
        draft.set(name, value)
    return draft


def _encode_source(draft: Draft, number: int, source: Source, channels: Mapping[int, int]) -> None:
    channel = source.channel if source.literal is None else channels[source.literal]
    fields = {"sel": source.select, "rel": source.relative, "chan": channel, "neg": source.negate}
    for field, value in fields.items():
        draft.set(f"src{number}_{field}", value)
    if source.absolute:
        draft.set(f"src{number}_abs", 1)
