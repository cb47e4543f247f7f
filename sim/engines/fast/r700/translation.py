"""An R700 program as LLVM IR: its CF instructions with what they start, one wavefront in a vector."""

from collections.abc import Callable
from dataclasses import dataclass

from ctm.rtl.isa.limits import QUAD
from ctm.rtl.isa.r700.control_flow import EMITS, AluClause
from ctm.rtl.isa.r700.program import ProgramType
from ctm.sim.engines.fast.finish import Test, send
from ctm.sim.engines.fast.kernel import Frame, Kernel
from ctm.sim.engines.fast.parameters import Slot
from ctm.sim.engines.fast.r700.alu import Alu
from ctm.sim.engines.fast.r700.constants import Constants
from ctm.sim.engines.fast.r700.draws.primitives import Primitives
from ctm.sim.engines.fast.r700.draws.threads import Threaded, Threads
from ctm.sim.engines.fast.r700.exports import Exports
from ctm.sim.engines.fast.r700.fetches import Fetches
from ctm.sim.engines.fast.r700.flow import FlowControl
from ctm.sim.engines.fast.r700.formulas import Unit
from ctm.sim.engines.fast.r700.graph import POPS_AFTER, Exit, Graph, Instruction, Node, Target
from ctm.sim.engines.fast.r700.masks import Masks
from ctm.sim.engines.fast.r700.memory import MemoryAccess
from ctm.sim.engines.fast.r700.operands import ClauseState, Operands
from ctm.sim.engines.fast.r700.reach import is_relative, kills
from ctm.sim.engines.fast.r700.registers import Registers
from ctm.sim.engines.fast.r700.share import Share
from ctm.sim.engines.fast.vector.lanes import FLOAT, POINTER, Value
from ctm.sim.engines.fast.vector.transcendental import Transcendental
from ctm.sim.golden.r700.execution import ALU, CONTROL, FETCH, UNITS
from ctm.sim.golden.r700.image import Information
from ctm.sim.golden.r700.instruction import AluWord, Export, Flow, Group

_CONTROL, _ALU, _FETCH = (UNITS.index(unit) for unit in (CONTROL, ALU, FETCH))


@dataclass(frozen=True)
class Drawn:
    """Of a draw: the rows of a vertex's parameters, and whether targets add."""

    rows: int
    adds: bool


@dataclass(frozen=True, kw_only=True)
class Source:
    """All of a program, and of the state that it runs in, that its translation depends on."""

    graph: Graph
    information: Information
    outputs: tuple[int, ...]
    output_mask: tuple[bool, ...]
    test: Test | None
    draw: Drawn | None = None
    threads: Threaded | None = None
    """Of a draw's program in front of the raster."""


def translate(source: Source, frame: Frame) -> str:
    """The text of the program's module; see `kernel.RUN`."""
    return _Translation(source, frame).text()


class _Translation:
    """The translation of one program."""

    def __init__(self, source: Source, frame: Frame) -> None:
        self._source = source
        self._kernel = kernel = Kernel(frame)
        lanes = self._lanes = kernel.lanes
        information = source.information
        with lanes.builder.goto_entry_block():
            self._registers = Registers(lanes, information.gprs, relative=is_relative(source.graph))
            self._masks = masks = Masks(kernel)
            self._share = Share(lanes, masks, information.lds_dwords)
            self._threads = Threads(kernel, source.threads) if source.threads is not None else None
            self._memory = MemoryAccess(kernel, writes=source.output_mask[0]) if self._threads is None else None
            constants, memory = Constants(kernel), self._threads or self._memory
            assert memory is not None
            self._fetches = Fetches(kernel, self._registers, constants, masks, memory, self._share)
            self._exports = Exports(kernel, self._fetches, source.outputs, conditional_is_own=information.depth)
            unit = Unit(lanes, Transcendental(lanes, kernel.parameter(Slot.TABLE, POINTER)))
            draw = source.draw
            self._primitives = Primitives(kernel, draw.rows) if draw is not None else None
            operands = Operands(lanes, self._registers, constants, masks, self._primitives)
            self._alu = Alu(unit, self._registers, operands, masks, information.dx10_clamp)
            self._flow = FlowControl(kernel, source.graph, masks, constants)
            self._first_conditional = kernel.parameter(Slot.CONDITIONAL_VALUE, FLOAT)
        self._early = kernel.block("early")
        self._blocks = {node: kernel.block("word") for node in (*source.graph.edges, *source.graph.faulty)}
        if self._primitives is not None:
            self._primitives.begin()
        start = lanes.builder.block
        for node in source.graph.edges:
            lanes.builder.position_at_end(self._blocks[node])
            self._node(node)
        for node in source.graph.faulty:
            lanes.builder.position_at_end(self._blocks[node])
            lanes.builder.branch(kernel.give_back)
        lanes.builder.position_at_end(start)
        self._clear()
        lanes.builder.branch(self._blocks[source.graph.entry])
        self._finish()

    def text(self) -> str:
        """The finished module."""
        return self._kernel.text()

    def _clear(self) -> None:
        """Registers at the program's start; all that is used is known by now."""
        lanes = self._lanes
        self._registers.clear()
        self._masks.clear()
        self._share.clear()
        conditional = lanes.single(0) if self._source.information.depth else lanes.splat(self._first_conditional)
        self._exports.clear(lanes.words(conditional))
        if self._primitives is not None:
            self._begin_draw(self._primitives)
            return
        if self._threads is not None:
            for register, channel, words in self._threads.begin():
                self._registers.write(register, channel, words, lanes.all)
            return
        for channel, words in enumerate(self._first_register()):
            self._registers.write(0, channel, words, lanes.all)

    def _begin_draw(self, primitives: Primitives) -> None:
        """R0 of a draw's pixel program are edge values, R1 is the pixel."""
        lanes, kernel = self._lanes, self._kernel
        first = [lanes.words(primitives.edge(number)) for number in range(3)]
        for register, values in ((0, first), (1, [kernel.x, kernel.y])):
            for channel, words in enumerate(values):
                self._registers.write(register, channel, words, lanes.all)

    def _first_register(self) -> list[Value]:
        """R0 at a program's start."""
        kernel, lanes, builder = self._kernel, self._lanes, self._lanes.builder
        if self._source.information.type is ProgramType.CS:
            numbers = lanes.integer_for_each([lane % kernel.frame.wavefront_lanes for lane in range(lanes.width)])
            assert self._memory is not None
            return [kernel.x, kernel.y, self._memory.pixel_number(), numbers]
        floats = [builder.sitofp(at, lanes.floats) for at in (kernel.x, kernel.y)]
        return [lanes.words(value) for value in (*floats, lanes.single(0), lanes.single(1))]

    def _node(self, node: Node) -> None:
        """Translate one node where the builder stands."""
        graph, counts = self._source.graph, self._kernel.counts
        counts.note(_CONTROL)
        word, edges = graph.word(node), graph.edges[node]
        if all(edge in (Exit.FAULT, None) for edge in (edges.jump, edges.on)):
            counts.add()
            self._lanes.builder.branch(self._kernel.give_back)
        elif isinstance(word, AluWord):
            self._clause(node, word, self._masks.active)
        elif isinstance(word, Export):
            valid_mask = self._masks.valid_mask
            passing = self._flow.passing(word)
            if not word.selects:
                # What is written to memory is kept, even if the golden model runs the wavefront again.
                counts.add()
                self._kernel.go_if(self._kernel.limit_is_exceeded(), self._kernel.exceeded)
            self._exports.execute(word, passing, valid_mask)
            self._leave(node, edges.on)
        else:
            assert isinstance(word, Flow)
            if word.units:
                self._clause(node, word, self._flow.passing(word))
            elif word.operation in EMITS:
                assert self._threads is not None
                valid = self._lanes.builder.and_(self._flow.passing(word), self._masks.valid_mask)
                self._threads.emit(word.operation, valid)
                self._leave(node, edges.on)
            else:
                self._flow_word(node, word)

    def _flow_word(self, node: Node, word: Flow) -> None:
        edges = self._source.graph.edges[node]
        step = self._flow.begin(node, word)
        if edges.jump is None or edges.on is None:
            effect, target = (step.stay, edges.on) if edges.jump is None else (step.go, edges.jump)
            self._side(node, target, effect, killed=step.killed)
            return
        go, stay = self._kernel.block("go"), self._kernel.block("stay")
        self._kernel.counts.add()
        self._lanes.builder.cbranch(step.jumps, go, stay)
        for block, target, effect in ((go, edges.jump, step.go), (stay, edges.on, step.stay)):
            self._lanes.builder.position_at_end(block)
            self._side(node, target, effect)

    def _side(self, node: Node, target: Target | None, effect: Callable[[], None], *, killed: bool = False) -> None:
        if isinstance(target, Node):
            effect()
        self._leave(node, target, killed=killed)

    def _leave(self, node: Node, target: Target | None, *, killed: bool = False) -> None:
        """Go where a node leads; if it `killed` lanes, the wavefront may have ended."""
        kernel, lanes, builder = self._kernel, self._lanes, self._lanes.builder
        kernel.counts.add()
        if not isinstance(target, Node):
            builder.branch(kernel.finish if target is Exit.END else kernel.give_back)
            return
        if killed:
            counting = builder.and_(kernel.covered, self._masks.valid_mask)
            kernel.go_if(builder.not_(lanes.any(counting)), self._early)
        if target.word <= node.word:
            kernel.go_if(kernel.limit_is_exceeded(), kernel.exceeded)
        builder.branch(self._blocks[target])

    def _clause(self, node: Node, word: AluWord | Flow, test: Value) -> None:
        """A clause, if any lane passes the test; and what its word does after it."""
        kernel, builder = self._kernel, self._lanes.builder
        if word.operation is AluClause.ALU_PUSH_BEFORE:
            self._masks.push(len(node.stack))
        entered, after = kernel.block("clause"), kernel.block("after")
        kernel.counts.add()
        builder.cbranch(self._lanes.any(test), entered, after)
        builder.position_at_end(entered)
        clause = self._source.graph.clause(node)
        if clause is None:
            builder.branch(kernel.give_back)
        else:
            self._instructions(word, clause)
            kernel.counts.add()
            builder.branch(after)
        builder.position_at_end(after)
        if word.operation in POPS_AFTER:
            self._masks.pop(len(node.stack) - POPS_AFTER[word.operation])
        elif word.operation is AluClause.ALU_ELSE_AFTER:
            self._masks.invert(len(node.stack) - 1, self._flow.always)
        self._leave(node, self._source.graph.edges[node].on, killed=clause is not None and kills(clause))

    def _instructions(self, word: AluWord | Flow, clause: tuple[Instruction, ...]) -> None:
        lanes, counts = self._lanes, self._kernel.counts
        if isinstance(word, Flow):
            executing = self._whole(self._flow.passing(word), word)
            for fetch in clause:
                assert not isinstance(fetch, Group)
                counts.note(_FETCH)
                self._fetches.execute(fetch, executing)
            return
        state = ClauseState(address=[lanes.none] * 4, predicate=lanes.none, cleared=lanes.none)
        for group in clause:
            assert isinstance(group, Group)
            counts.note(_ALU)
            self._alu.execute(group, state, self._whole(self._masks.active, word))
        if word.operation in (AluClause.ALU_BREAK, AluClause.ALU_CONTINUE):
            self._masks.restore_branch(state.cleared)
            self._masks.leave_round(state.cleared, breaks=word.operation is AluClause.ALU_BREAK)

    def _whole(self, mask: Value, word: AluWord | Flow) -> Value:
        """The lanes of a mask, or all of their quads in whole quad mode."""
        return self._lanes.any_in_each(mask, QUAD) if word.whole_quads else mask

    def _finish(self) -> None:
        """What is done when a wavefront ended."""
        kernel, builder = self._kernel, self._lanes.builder
        # A wavefront that ends because no lane remains has not issued its last instruction.
        builder.position_at_end(self._early)
        builder.cbranch(kernel.limit_is_reached(), kernel.give_back, kernel.finish)
        builder.position_at_end(kernel.finish)
        kernel.go_if(kernel.limit_is_exceeded(), kernel.exceeded)
        if self._threads is not None:
            self._threads.finish([self._exports.words(output) for output in self._source.outputs])
        else:
            self._send()
        kernel.end()

    def _send(self) -> None:
        """Store the outputs of a wavefront that ended."""
        kernel, conditional = self._kernel, self._exports.conditional
        send(
            kernel,
            self._masks.valid_mask,
            {output: self._exports.output(output) for output in self._source.outputs},
            output_mask=self._source.output_mask,
            test=self._source.test,
            conditional=conditional if self._primitives is None else self._primitives.clamped(conditional),
            adds=self._source.draw is not None and self._source.draw.adds,
        )
