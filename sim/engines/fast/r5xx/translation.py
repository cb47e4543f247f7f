"""An R5xx program as LLVM IR: its nodes in their order, each for the wavefronts that stand there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.isa.r5xx.opcodes import InstructionType, TextureOperation
from ctm.sim.engines.fast.finish import Output, Test, send
from ctm.sim.engines.fast.integers import Integers
from ctm.sim.engines.fast.kernel import Frame, Kernel
from ctm.sim.engines.fast.parameters import Slot
from ctm.sim.engines.fast.r5xx.alu import Alu as AluUnit
from ctm.sim.engines.fast.r5xx.alu import Result
from ctm.sim.engines.fast.r5xx.exactness import Exactness
from ctm.sim.engines.fast.r5xx.flow import FlowControl, is_uniform
from ctm.sim.engines.fast.r5xx.gates import Gates
from ctm.sim.engines.fast.r5xx.graph import Graph, Node
from ctm.sim.engines.fast.r5xx.operands import Operands
from ctm.sim.engines.fast.r5xx.reconvergence import Reconvergence
from ctm.sim.engines.fast.r5xx.registers import Registers, Temporaries
from ctm.sim.engines.fast.r5xx.spans import Spans
from ctm.sim.engines.fast.r5xx.texture import Texture
from ctm.sim.engines.fast.r5xx.uncached import write_uncached
from ctm.sim.engines.fast.vector import selection
from ctm.sim.engines.fast.vector.lanes import FLOAT, POINTER, Value
from ctm.sim.engines.fast.vector.transcendental import Transcendental
from ctm.sim.golden.r5xx.instruction import ALPHA, Alu, Bank, Common, Flow, Instruction, Tex
from ctm.sim.golden.r5xx.plan import Block

_UNITS = {unit: number for number, unit in enumerate(InstructionType)}


@dataclass(frozen=True, kw_only=True)
class Source:
    """All of a program, and of the state that it runs in, that its translation depends on."""

    instructions: Sequence[Instruction]
    plans: Sequence[Sequence[Block]]
    graph: Graph
    end: int
    temporaries: int
    zero_times_anything: bool
    full_flow_control: bool
    uncached_writes: bool
    conditional_from_program: bool
    outputs: tuple[int, ...]
    output_mask: tuple[bool, ...]
    test: Test | None


def translate(source: Source, frame: Frame) -> str:
    """The text of the program's module; see `kernel.RUN`."""
    return _Translation(source, frame).text()


class _Translation:
    """The translation of one program."""

    def __init__(self, source: Source, frame: Frame) -> None:
        self._source = source
        self._kernel = kernel = Kernel(frame)
        lanes = self._lanes = kernel.lanes
        relative = any(map(_is_relative, source.instructions))
        self._exactness = Exactness(source.instructions, source.plans, frame.buffers, relative=relative)
        flows = [source.graph.flow(node) for node in source.graph.edges]
        self._uniform = all(map(is_uniform, flows)) and not any(each.common.last for each in source.instructions)
        self._spans = Spans(
            source.instructions, source.plans, frame.width, same=self._uniform and not relative, rows=frame.rows
        )
        with lanes.builder.goto_entry_block():
            self._temporaries = Temporaries(
                lanes, self._exactness.used, source.temporaries, span=self._spans.of, relative=relative
            )
            self._registers = Registers(lanes, self._output_channels())
        self._gates = Gates(lanes, self._registers, self._uniform)
        self._integers = Integers(kernel)
        self._constants = kernel.parameter(Slot.CONSTANTS, POINTER)
        unit = Transcendental(lanes, kernel.parameter(Slot.TABLE, POINTER))
        self._alu = AluUnit(lanes, unit, self._exactness, source.zero_times_anything)
        self._texture = Texture(kernel, unit, self._gates, self._temporaries, self._spans)
        self._flow = FlowControl(kernel, self._registers, self._integers, full_flow_control=source.full_flow_control)
        self._reconvergence = Reconvergence(kernel, self._registers, source.graph, uniform=self._uniform)
        self._clear()
        lanes.builder.branch(self._reconvergence.block(source.graph.entry))
        for node in source.graph.nodes:
            self._node(node)
        self._reconvergence.finish()
        self._finish()

    def text(self) -> str:
        """The finished module."""
        return self._kernel.text()

    def _output_channels(self) -> list[tuple[int, int]]:
        return [(output, channel) for output in self._source.outputs for channel in range(CHANNELS)]

    def _clear(self) -> None:
        """Registers at the program's start: r0 = (i, j, 0, 1), everything else 0, all lanes active."""
        kernel, lanes, builder = self._kernel, self._lanes, self._lanes.builder
        self._temporaries.clear()
        conditional = lanes.single(0)
        if not self._source.conditional_from_program:
            conditional = lanes.splat(kernel.parameter(Slot.CONDITIONAL_VALUE, FLOAT))
        self._registers.clear(kernel.here, conditional)
        first = (builder.sitofp(kernel.x, lanes.floats), builder.sitofp(kernel.y, lanes.floats), None, lanes.single(1))
        for channel, value in enumerate(first):
            pointer = self._temporaries.first(channel)
            if value is not None:
                builder.store(lanes.at(self._spans.of((0, channel))).contracted(value), pointer)

    def _node(self, node: Node) -> None:
        """Translate one node; the builder then stands nowhere."""
        kernel, graph, builder = self._kernel, self._source.graph, self._lanes.builder
        self._reconvergence.enter(node)
        if graph.always_faults(node):
            kernel.counts.add()
            builder.branch(kernel.give_back)
            return
        instruction = self._source.instructions[node.pc]
        kernel.counts.note(_UNITS[instruction.common.type])
        if isinstance(instruction, Flow):
            self._flow_node(node, instruction)
            return
        index = self._registers.loop_index(node.level)
        may_end = instruction.common.last
        if isinstance(instruction, Alu):
            self._compute(instruction, self._source.plans[node.pc], index)
        elif isinstance(instruction, Tex) and instruction.operation is TextureOperation.KILL_LT_0:
            self._texture.kill(instruction, index)
            may_end = True
        elif isinstance(instruction, Tex) and instruction.operation is not TextureOperation.NOP:
            self._texture.fetch(instruction, index)
        if node.pc == self._source.end:
            self._reconvergence.end(node)
        elif may_end:
            ended = self._ended(last=instruction.common.last)
            self._reconvergence.go_on_without(node, node._replace(pc=node.pc + 1), ended)
        else:
            self._reconvergence.go_on(node, node._replace(pc=node.pc + 1))

    def _flow_node(self, node: Node, instruction: Flow) -> None:
        self._kernel.counts.add()
        edges, is_end = self._source.graph.edges[node], node.pc == self._source.end
        if self._uniform:
            jumps = self._flow.jumps_uniformly(node, instruction)
            if is_end:
                self._reconvergence.end(node)
            else:
                self._reconvergence.branch_uniformly(node, edges, jumps)
            return
        jumps, remains = self._flow.decide(node, instruction)
        if is_end:
            # Nodes that cannot be reached from here are not translated: a vector with a fault is given back.
            self._reconvergence.end_after(node, edges, jumps, remains)
            return
        ended = self._ended(last=True) if instruction.common.last else None
        self._reconvergence.diverge(node, edges, jumps, remains, ended)

    def _ended(self, *, last: bool) -> Value:
        """The wavefronts that end early: no lane counts, or after a `last` instruction no lane is inactive."""
        builder, registers = self._lanes.builder, self._registers
        counting = builder.and_(self._kernel.covered, registers.mask(registers.valid_mask))
        if last:
            counting = builder.and_(counting, builder.not_(registers.mask(registers.active)))
        return builder.not_(self._lanes.any_in_each(counting, self._kernel.frame.wavefront_lanes))

    def _compute(self, instruction: Alu, blocks: Sequence[Block], index: Value) -> None:
        operands = Operands(instruction, self._temporaries, self._constants, self._exactness, index)
        results: dict[int, Result] = {}
        for block in blocks:
            results |= self._alu.results(self._spans.of_block(instruction, block), operands, block)
        self._write_back(instruction, results, index)
        if self._source.uncached_writes and instruction.is_output and instruction.common.output_mask:
            if self._source.output_mask[0]:
                # What is written is kept, even if the golden model runs the wavefront again.
                self._kernel.counts.add()
                self._kernel.go_if(self._kernel.limit_is_exceeded(), self._kernel.exceeded)
                write_uncached(self._kernel, self._gates, instruction, results)

    def _write_back(self, instruction: Alu, results: Mapping[int, Result], index: Value) -> None:
        """Write all results, but for the output registers of an uncached write."""
        common, gates, registers = instruction.common, self._gates, self._registers
        strict = self._gate_each(common, results, write_inactive=False)
        free = self._gate_each(common, results, write_inactive=True) if common.write_inactive else strict
        for channel in common.write_mask:
            destination = instruction.unit(channel).destination
            is_arithmetic = self._exactness.is_arithmetic((destination.index, channel))
            value = results[channel].value if is_arithmetic else self._exact(results[channel])
            value = self._lanes.at(self._spans.of((destination.index, channel))).spread(value)
            gates.store(self._temporaries.pointer(destination, channel, index), value, free[channel])
        for channel in common.output_mask:
            target, result = instruction.unit(channel).target, results[channel]
            if not instruction.is_output:
                passed = selection.test_zero(self._lanes, self._lanes.spread(result.value), target)
                gates.store(registers.predicates[channel], passed, free[channel])
            elif not self._source.uncached_writes:
                value = self._lanes.spread(self._exact(result))
                gates.store(registers.outputs[target, channel], value, strict[channel])
                gates.store(registers.written[target, channel], self._lanes.all, strict[channel])
        if instruction.alu_result is not None:
            channel, test = instruction.alu_result
            passed = selection.test_zero(self._lanes, self._lanes.spread(results[channel].value), test.value)
            gates.store(registers.alu_result, passed, strict[channel])
        if instruction.writes_conditional and self._source.conditional_from_program:
            value = self._lanes.spread(self._exact(results[ALPHA]))
            gates.store(registers.conditional, value, strict[ALPHA])

    def _gate_each(self, common: Common, channels: Mapping[int, Result], *, write_inactive: bool) -> dict[int, Value]:
        """All gates, before any predicate changes."""
        base = self._gates.base(write_inactive=write_inactive)
        return {channel: self._gates.of(common, channel, base) for channel in channels}

    def _exact(self, result: Result) -> Value:
        return selection.canonical(self._lanes.of(result.value), result.value) if result.any_nan else result.value

    def _finish(self) -> None:
        """What is done when all wavefronts of a vector ended."""
        kernel, registers, builder = self._kernel, self._registers, self._lanes.builder
        builder.position_at_end(kernel.finish)
        kernel.go_if(kernel.limit_is_exceeded(), kernel.exceeded)

        def loaded(output: int) -> Output:
            names = [(output, channel) for channel in range(CHANNELS)]
            values = [builder.load(registers.outputs[name], typ=self._lanes.floats) for name in names]
            return Output(values=values, written=[registers.mask(registers.written[name]) for name in names])

        send(
            kernel,
            registers.mask(registers.valid_mask),
            {output: loaded(output) for output in self._source.outputs},
            output_mask=self._source.output_mask,
            test=self._source.test,
            conditional=builder.load(registers.conditional, typ=self._lanes.floats),
        )
        kernel.end()


def _is_relative(instruction: Instruction) -> bool:
    """Whether an instruction addresses temporaries with aL."""
    if isinstance(instruction, Tex):
        return instruction.source.relative or instruction.destination.relative
    if not isinstance(instruction, Alu):
        return False
    return any(
        unit.destination.relative
        or any(address.relative and address.bank is Bank.TEMPORARY for address in unit.addresses)
        for unit in (instruction.rgb, instruction.alpha)
    )
