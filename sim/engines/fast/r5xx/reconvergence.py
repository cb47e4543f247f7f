"""Reconvergence of the wavefronts of a vector: of all wavefronts those at the lowest position go on.

A wavefront that jumps past others waits at its target until they come there, are beyond it, or have ended. So every
vector goes through a program upward, but for jumps back, and an instruction is executed once for all wavefronts at it.
"""

from bisect import bisect_right

from ctm.sim.engines.fast.kernel import Kernel
from ctm.sim.engines.fast.r5xx.graph import Edges, Graph, Node
from ctm.sim.engines.fast.r5xx.registers import Registers
from ctm.sim.engines.fast.vector.lanes import Value


class Reconvergence:
    """Goes from node to node. Each method that ends a node's code leaves the builder nowhere.

    With `uniform` flow control, or one wavefront in a vector, no wavefront ever waits.
    """

    def __init__(self, kernel: Kernel, registers: Registers, graph: Graph, *, uniform: bool) -> None:
        self._kernel, self._lanes, self._registers = kernel, kernel.lanes, registers
        self._uniform = uniform
        self._together = uniform or kernel.frame.wavefronts == 1
        self._blocks = {node: kernel.block(f"pc{node.pc}") for node in graph.nodes}
        self._order = {node: number for number, node in enumerate(graph.nodes)}
        targets = set() if self._together else {
            to for edges in graph.edges.values() for to in edges.targets if to in self._order
        }  # fmt: skip
        self._meetings = sorted(targets, key=lambda node: self._order[node])
        """Nodes at which wavefronts may wait."""
        self._numbers = [self._order[node] for node in self._meetings]
        with self._lanes.builder.goto_entry_block():
            self._waiting = {node: self._lanes.builder.alloca(self._lanes.integers) for node in self._meetings}
        for pointer in self._waiting.values():
            self._lanes.builder.store(self._lanes.none, pointer)
        self._looks = [kernel.block("look") for _ in self._meetings]
        """Blocks that look for waiting wavefronts, from each node on at which some may wait."""
        self._starts = {to for edges in graph.edges.values() for to in edges.targets}

    def block(self, node: Node) -> Value:
        """Where the code of a node begins."""
        return self._blocks[node]

    def enter(self, node: Node) -> None:
        """Begin the code of a node."""
        builder, registers = self._lanes.builder, self._registers
        builder.position_at_end(self._blocks[node])
        if node in self._waiting:
            here = builder.or_(registers.mask(registers.here), registers.mask(self._waiting[node]))
            builder.store(here, registers.here)
            builder.store(self._lanes.none, self._waiting[node])
        if node in self._starts and not self._uniform:
            self._recount()

    def go_on(self, node: Node, following: Node) -> None:
        """All go to the next node."""
        if following in self._starts or self._order[following] != self._order[node] + 1:
            self._kernel.counts.add()
        self._lanes.builder.branch(self._blocks[following])

    def go_on_without(self, node: Node, following: Node, ended: Value) -> None:
        """All but the wavefronts that `ended` go to the next node."""
        builder, registers = self._lanes.builder, self._registers
        self._kernel.counts.add()
        here = builder.and_(registers.mask(registers.here), builder.not_(ended))
        builder.store(here, registers.here)
        self._recount()
        builder.cbranch(self._lanes.any(here), self._blocks[following], self._look_after(node))

    def end(self, node: Node) -> None:
        """All end."""
        self._kernel.counts.add()
        self._lanes.builder.store(self._lanes.none, self._registers.here)
        self._lanes.builder.branch(self._look_after(node))

    def end_after(self, node: Node, edges: Edges, jumps: Value, remains: Value) -> None:
        """All end after a jump, but for those that fault in it."""
        self._give_back_faulty(edges, jumps, remains)
        self.end(node)

    def branch_uniformly(self, node: Node, edges: Edges, jumps: Value) -> None:
        """All jump or all stay, as one bit says."""
        there = {
            to: self._kernel.give_back if to is None else self._blocks[to] for to, _ in _paths(edges, jumps, jumps)
        }
        if edges.jump in there and edges.jump is not None and self._is_back(node, edges.jump):
            there[edges.jump] = self._checked(there[edges.jump])
        if edges.may_jump and edges.may_stay:
            self._lanes.builder.cbranch(jumps, there[edges.jump], there[edges.stay])
        else:
            self._lanes.builder.branch(there[edges.jump if edges.may_jump else edges.stay])

    def diverge(self, node: Node, edges: Edges, jumps: Value, remains: Value, ended: Value | None) -> None:
        """Some jump and some stay, as masks say; of both, those that `ended` go nowhere, unless they fault."""
        builder, lanes = self._lanes.builder, self._lanes
        self._give_back_faulty(edges, jumps, remains)
        if ended is not None:
            going = builder.not_(ended)
            jumps, remains = builder.and_(jumps, going), builder.and_(remains, going)
        paths = [(to, wavefronts) for to, wavefronts in _paths(edges, jumps, remains) if to is not None]
        paths.sort(key=lambda path: self._order[path[0]])
        for number, (to, wavefronts) in enumerate(paths):
            block, otherwise = self._kernel.block("go"), self._kernel.block("or")
            builder.cbranch(lanes.any(wavefronts), block, otherwise)
            builder.position_at_end(block)
            if not self._together:
                for other, waiting in paths[number + 1 :]:
                    self._wait(other, waiting)
            self._go(node, to, wavefronts)
            builder.position_at_end(otherwise)
        builder.store(lanes.none, self._registers.here)
        builder.branch(self._look_after(node))

    def finish(self) -> None:
        """Write the blocks that look for waiting wavefronts, when all nodes are translated."""
        builder = self._lanes.builder
        ends = [*self._looks, self._kernel.finish][1:]
        for node, block, otherwise in zip(self._meetings, self._looks, ends, strict=True):
            builder.position_at_end(block)
            waits = self._lanes.any(self._registers.mask(self._waiting[node]))
            builder.cbranch(waits, self._blocks[node], otherwise)

    def _give_back_faulty(self, edges: Edges, jumps: Value, remains: Value) -> None:
        for to, wavefronts in _paths(edges, jumps, remains):
            if to is None:
                self._kernel.go_if(self._lanes.any(wavefronts), self._kernel.give_back)

    def _go(self, node: Node, to: Node, wavefronts: Value) -> None:
        """Wavefronts go to a node, but let others go first that wait before it."""
        builder = self._lanes.builder
        is_back = self._is_back(node, to)
        if is_back:
            self._kernel.go_if(self._kernel.limit_is_exceeded(), self._kernel.exceeded)
        if self._together or is_back or not self._between(node, to):
            builder.store(wavefronts, self._registers.here)
            builder.branch(self._blocks[to])
            return
        self._wait(to, wavefronts)
        builder.store(self._lanes.none, self._registers.here)
        builder.branch(self._look_after(node))

    def _wait(self, node: Node, wavefronts: Value) -> None:
        builder, pointer = self._lanes.builder, self._waiting[node]
        builder.store(builder.or_(self._registers.mask(pointer), wavefronts), pointer)

    def _is_back(self, node: Node, to: Node) -> bool:
        return self._order[to] <= self._order[node]

    def _between(self, node: Node, to: Node) -> bool:
        """Whether wavefronts may wait after a node and before another."""
        return bisect_right(self._numbers, self._order[node]) < bisect_right(self._numbers, self._order[to] - 1)

    def _look_after(self, node: Node) -> Value:
        """The block that looks for wavefronts that wait after a node."""
        first = bisect_right(self._numbers, self._order[node])
        return self._looks[first] if first < len(self._looks) else self._kernel.finish

    def _checked(self, block: Value) -> Value:
        """A block that goes to another one, unless the vector has to stop."""
        builder, checked = self._lanes.builder, self._kernel.block("back")
        with builder.goto_block(checked):
            builder.cbranch(self._kernel.limit_is_exceeded(), self._kernel.exceeded, block)
        return checked

    def _recount(self) -> None:
        registers = self._registers
        here = registers.mask(registers.here)
        active = here if self._uniform else self._lanes.builder.and_(here, registers.mask(registers.active))
        self._kernel.counts.change(here, active, self._kernel.frame.wavefront_lanes)


def _paths(edges: Edges, jumps: Value, remains: Value) -> list[tuple[Node | None, Value]]:
    """Targets that are possible, None for a fault, with the wavefronts that go there."""
    paths = ((edges.jump, jumps, edges.may_jump), (edges.stay, remains, edges.may_stay))
    return [(to, wavefronts) for to, wavefronts, is_possible in paths if is_possible]
