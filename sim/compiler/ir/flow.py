"""Control flow of a function: which blocks follow which, and loops."""

from ctm.sim.compiler.error import Location
from ctm.sim.compiler.ir.module import Block, Function, Module

_RETURN = "ret"
_NEVER = "unreachable"
"""How a block ends that Clang knows is not executed, as a switch without a default has one for other values."""


class Flow:
    """The graph of a function's blocks, by label, without unreachable blocks."""

    def __init__(self, function: Function) -> None:
        self.blocks = {block.label: block for block in function.blocks}
        self.entry = function.blocks[0].label
        self.following = {label: _targets(block) for label, block in self.blocks.items()}
        self.order = self._reverse_postorder()
        """Labels in reverse postorder: each after its predecessors, but for back edges."""
        self.leading: dict[str, list[str]] = {label: [] for label in self.order}
        for label in self.order:
            for target in self.following[label]:
                self.leading[target].append(label)
        self.dominators = self._dominators()

    def _reverse_postorder(self) -> list[str]:
        order: list[str] = []
        seen = {self.entry}
        path = [(self.entry, iter(self.following[self.entry]))]
        while path:
            label, targets = path[-1]
            target = next((target for target in targets if target not in seen), None)
            if target is None:
                order.append(label)
                path.pop()
            else:
                seen.add(target)
                path.append((target, iter(self.following[target])))
        return order[::-1]

    def _dominators(self) -> dict[str, set[str]]:
        """For each block its dominators, itself included."""
        found = {label: set(self.order) for label in self.order}
        found[self.entry] = {self.entry}
        changed = True
        while changed:
            changed = False
            for label in self.order[1:]:
                before = set.intersection(*(found[other] for other in self.leading[label]))
                if before | {label} != found[label]:
                    found[label], changed = before | {label}, True
        return found

    @property
    def returns(self) -> bool:
        """Whether some path leads to a return."""
        return any(self._ending(label) == _RETURN for label in self.order)

    def endless(self) -> list[str]:
        """Blocks from which no path leads out of loops, in their order."""
        ends = {label for label in self.order if self._ending(label) in (_RETURN, _NEVER)}
        waiting = list(ends)
        while waiting:
            more = set(self.leading[waiting.pop()]) - ends
            ends |= more
            waiting += more
        return [label for label in self.order if label not in ends]

    def _ending(self, label: str) -> str:
        return self.blocks[label].instructions[-1].opcode

    def second_entry(self) -> str | None:
        """A block at which a loop is entered beside its head; None if all loops have one entry."""
        position = {label: number for number, label in enumerate(self.order)}
        for label in self.order:
            for target in self.following[label]:
                if position[target] <= position[label] and target not in self.dominators[label]:
                    return target
        return None


def _targets(block: Block) -> list[str]:
    return [target.lstrip("%") for target in block.instructions[-1].targets]


def loop_heads(module: Module, function: Function) -> dict[str, Location]:
    """Where in the source the loops of a function begin, by the labels of their first blocks, in their order."""
    flow = Flow(function)
    found: dict[str, Location] = {}
    for label in flow.order:
        for target in flow.following[label]:
            location = module.loop(flow.blocks[label].instructions[-1])
            if target in flow.dominators[label] and location is not None:
                found[target] = location
    return {label: found[label] for label in flow.order if label in found}
