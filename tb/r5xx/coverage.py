"""What random programs have tried: executed wavefront instructions by class."""

from collections import Counter
from collections.abc import Iterator

from rich.table import Table

from ctm.rtl.isa.formats import ELEMENTS, DataFormat, Tiling
from ctm.rtl.isa.r5xx.opcodes import (
    AddressOperation,
    AlphaOperation,
    BranchOperation,
    FlowOperation,
    InputModifier,
    OutputModifier,
    PredicateSelect,
    Presubtract,
    RgbOperation,
    TextureOperation,
    UmrtTarget,
    ZeroTest,
)
from ctm.sim.golden.dpp.launch import Launch
from ctm.sim.golden.r5xx.instruction import Alu, Bank, Common, Flow, Tex
from ctm.tb.r5xx.golden_record import Record, Step, WavefrontRecord

_KINDS = {
    "RGB": RgbOperation, "alpha": AlphaOperation, "output modifier": OutputModifier, "input modifier": InputModifier,
    "presubtract": Presubtract, "source": Bank, "predicate": PredicateSelect, "predicate bit": ZeroTest,
    "ALU result": ZeroTest,
    "uncached write": UmrtTarget, "texture": TextureOperation, "branch": BranchOperation, "address": AddressOperation,
}  # fmt: skip
_SINGLE = (
    "clamp", "relative constant", "relative temporary", "relative destination", "predicate inverted", "WRITE_INACTIVE",
    "ALU result under WRITE_INACTIVE", "conditional value",
    "LAST", "some pixels inactive", "no pixel active", "fetch scaled", "fetch unscaled",
    "fetch IGNORE_UNCOVERED", "fetch relative", "TEX_SEM_ACQUIRE", "B_ELSE", "JUMP_ANY", "flow IGNORE_UNCOVERED",
    "wavefront partly covered", "wavefront partly killed", "wavefront faults",
)  # fmt: skip


def classes() -> list[str]:
    """All that there is to be tried."""
    tilings = {
        data_format: [Tiling.LINEAR, Tiling.TILED]
        + ([Tiling.LINEAR_INP_2X2, Tiling.TILED_INP_2X2] if ELEMENTS[data_format].channels == 1 else [])
        for data_format in DataFormat
    }
    return [
        *(f"{kind} {code.name}" for kind, codes in _KINDS.items() for code in codes),
        *(f"output register {number}" for number in range(4)),
        *(f"fetch {data_format.name} {tiling.name}" for data_format in DataFormat for tiling in tilings[data_format]),
        *(f"flow {operation.name} {outcome}" for operation in FlowOperation for outcome in ("jumps", "falls through")),
        *_SINGLE,
    ]


class Coverage:
    """Counts, over any number of runs."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def add(self, launch: Launch, record: Record) -> None:
        """Count what a program executed."""
        for wavefront in record.wavefronts.values():
            self.counts.update(_group(wavefront))
            for step in wavefront.steps:
                self.counts.update(set(_step(launch, step)))

    def add_once(self, launch: Launch, record: Record) -> None:
        """Count each class once, of a program that executes its instructions again and again in the same manner."""
        found: set[str] = set()
        seen: set[tuple[int, ...]] = set()
        for wavefront in record.wavefronts.values():
            found |= set(_group(wavefront))
            for step in wavefront.steps:
                active, snapshot = step.state("active"), step.snapshot
                key = (step.pc, snapshot.next_pc, int(active.all()), int(active.any()), int(snapshot.loop_index != 0))
                if key not in seen:
                    seen.add(key)
                    found |= set(_step(launch, step))
        self.counts.update(found)

    def rare(self, least: int) -> dict[str, int]:
        """Classes that were executed less often."""
        return {name: self.counts[name] for name in classes() if self.counts[name] < least}

    def table(self) -> Table:
        """All classes and their counts."""
        table = Table("class", "wavefront instructions", title="Executed by random programs")
        for name in classes():
            table.add_row(name, f"{self.counts[name]:,}")
        return table


def _group(wavefront: WavefrontRecord) -> Iterator[str]:
    if not wavefront.covered.all():
        yield "wavefront partly covered"
    if wavefront.steps and not wavefront.steps[-1].state("valid_mask").all():
        yield "wavefront partly killed"
    if wavefront.fault is not None:
        yield "wavefront faults"


def _step(launch: Launch, step: Step) -> Iterator[str]:
    instruction, active = step.instruction, step.state("active")
    if not active.any():
        yield "no pixel active"
    elif not active.all():
        yield "some pixels inactive"
    if instruction.common.last:
        yield "LAST"
    if isinstance(instruction, Alu):
        yield from _alu(launch, step, instruction)
    elif isinstance(instruction, Tex):
        yield from _texture(launch, step, instruction)
    else:
        yield from _flow(step, instruction)


def _predicates(step: Step, common: Common) -> Iterator[str]:
    for predicate in common.predicates:
        yield f"predicate {predicate.select.name}"
        if predicate.inverted:
            yield "predicate inverted"
    if common.write_inactive and not step.state("active").all():
        yield "WRITE_INACTIVE"


def _alu(launch: Launch, step: Step, alu: Alu) -> Iterator[str]:
    yield from _predicates(step, alu.common)
    if alu.alu_result is not None and alu.common.write_inactive and not step.state("active").all():
        yield "ALU result under WRITE_INACTIVE"
    yield f"RGB {alu.rgb.operation.name}"
    yield f"alpha {alu.alpha.operation.name}"
    for unit in (alu.rgb, alu.alpha):
        yield f"output modifier {unit.modifier.name}"
        if unit.clamp:
            yield "clamp"
        if unit.destination.relative and step.snapshot.loop_index:
            yield "relative destination"
    for channel, rows in enumerate(alu.operands):
        unit = alu.unit(channel)
        for row in rows:
            yield f"input modifier {row.modifier.name}"
            if row.literal is None and row.source is None:
                yield f"presubtract {unit.presubtract.name}"
            elif row.literal is None and row.source is not None:
                address = unit.addresses[row.source]
                yield f"source {address.bank.name}"
                if address.relative and step.snapshot.loop_index:
                    yield f"relative {address.bank.name.lower()}"
    yield from _results(launch, alu)


def _results(launch: Launch, alu: Alu) -> Iterator[str]:
    for channel in alu.common.output_mask:
        target = alu.unit(channel).target
        if not alu.is_output:
            yield f"predicate bit {ZeroTest(target).name}"
        elif not launch.program.uncached_writes:
            yield f"output register {target}"
        else:
            yield f"uncached write {UmrtTarget(alu.rgb.target).name}"
    if alu.alu_result is not None:
        yield f"ALU result {alu.alu_result[1].name}"
    if alu.writes_conditional and launch.program.conditional_from_program:
        yield "conditional value"


def _texture(launch: Launch, step: Step, texture: Tex) -> Iterator[str]:
    yield from _predicates(step, texture.common)
    yield f"texture {texture.operation.name}"
    if texture.acquire:
        yield "TEX_SEM_ACQUIRE"
    if texture.operation in (TextureOperation.NOP, TextureOperation.KILL_LT_0):
        return
    buffer = launch.inputs.buffers[texture.input]
    if buffer.width_limit:
        yield f"fetch {buffer.format.name} {buffer.tiling.name}"
    yield "fetch unscaled" if texture.unscaled else "fetch scaled"
    if texture.ignore_uncovered:
        yield "fetch IGNORE_UNCOVERED"
    if step.snapshot.loop_index and (texture.source.relative or texture.destination.relative):
        yield "fetch relative"


def _flow(step: Step, flow: Flow) -> Iterator[str]:
    jumps = step.snapshot.next_pc != step.pc + 1
    yield f"flow {flow.operation.name} {'jumps' if jumps else 'falls through'}"
    yield f"branch {(flow.branch_if_jump if jumps else flow.branch_if_stay).name}"
    if jumps:
        yield f"address {flow.address_operation.name}"
    for name, holds in (("B_ELSE", flow.is_else), ("JUMP_ANY", flow.jump_any)):
        if holds:
            yield name
    if flow.ignore_uncovered:
        yield "flow IGNORE_UNCOVERED"
