"""Control flow as a tree: sequences, conditions and loops that are left from anywhere.

A block that several branches lead to, and that is not their join block, is duplicated for each; values become
variables, so duplication is safe. The join block of a branch is its immediate postdominator among the blocks of its
loop, without the edges that leave the loop: so what ends a round needs no statement. A jump out of several loops is a
flag that is tested after each. Blocks between a loop's exits and their join block belong to the loop, though they run
once.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from ctm.sim.compiler.ir.flow import Flow
from ctm.sim.compiler.ir.module import Function, Instruction

END = ""
"""The end of a round, or of the kernel."""
MOST_STATEMENTS = 4000


@dataclass
class Straight:
    """An instruction of the IR."""

    instruction: Instruction


@dataclass
class Copies:
    """What variables of phis get on one edge, at once: by name, the value's text and the type's."""

    values: list[tuple[str, str, str]]


@dataclass
class If:
    """Two arms; the condition is the text of a value of type i1, or the name of a flag.

    `predicate` is the channel of a predicate that keeps what the condition was, "" for none.
    """

    condition: str
    then: "Body" = field(default_factory=list)
    otherwise: "Body" = field(default_factory=list)
    predicate: str = ""


@dataclass
class Loop:
    """A body that is repeated until it is left; `head` is the label of its first block, "" of none.

    rounds
        After so many it ends by itself; 0 if it does not.
    predicate
        The channel of the predicate that says whether it was left, of one that is two of the machine's; else "".
    """

    head: str = ""
    body: "Body" = field(default_factory=list)
    rounds: int = 0
    predicate: str = ""


@dataclass
class Break:
    """Leaves the innermost loop."""


@dataclass
class Flag:
    """Sets a variable to 1 or to 0."""

    name: str
    value: int


Statement = Straight | Copies | If | Loop | Break | Flag
Body = list[Statement]


@dataclass
class _Frame:
    """A loop, or the whole kernel, that is being written.

    `follow` is the block after it, `postdominators` those of each block, `far` the flags of other targets of exits.
    """

    head: str
    blocks: set[str]
    follow: str | None
    postdominators: dict[str, set[str]]
    far: dict[str, str] = field(default_factory=dict)

    def join_of(self, label: str) -> str:
        """The join block of a branch: its immediate postdominator."""
        return max(self.postdominators[label] - {label}, key=lambda each: len(self.postdominators[each]))

    def join(self, labels: Iterable[str]) -> str:
        """The nearest common postdominator of some blocks."""
        common = set.intersection(*(self.postdominators[label] for label in labels))
        return max(common, key=lambda label: len(self.postdominators[label]))


class TooLargeError(Exception):
    """Blocks would be written too often."""


def structured(function: Function) -> Body:
    """The body of a function whose loops have one entry each.

    Raises
    ------
    TooLargeError
        It would have more than MOST_STATEMENTS statements.
    """
    return _Writer(function).body()


class _Writer:
    def __init__(self, function: Function) -> None:
        self._flow = Flow(function)
        self._loops = loops(self._flow)
        self._count = 0

    def body(self) -> Body:
        everything = set(self._flow.order)
        frame = _Frame(END, everything, None, self._postdominators(everything, END))
        return self._region(self._flow.entry, END, [frame])

    def _region(self, label: str, stop: str, frames: list[_Frame]) -> Body:
        """From a block to `stop`, which is not written."""
        body: Body = []
        at: str | None = label
        while at is not None and at != stop:
            is_loop = at in self._loops and at != frames[-1].head
            at = self._loop(at, body, stop, frames) if is_loop else self._block(at, body, frames)
        return body

    def _block(self, label: str, body: Body, frames: list[_Frame]) -> str | None:
        """Write a block; the next one, None if there is none."""
        block = self._flow.blocks[label]
        for instruction in block.instructions[:-1]:
            if instruction.opcode != "phi":
                self._add(body, Straight(instruction))
        last = block.instructions[-1]
        targets = self._flow.following[label]
        if not targets:
            return END
        if len(targets) == 1 or targets[0] == targets[1]:
            return self._edge(label, targets[0], body, frames)
        join = frames[-1].join_of(label)
        branch = If(last.text.split("i1 ", 1)[1].split(",")[0])
        self._add(body, branch)
        ends = []
        for arm, target in ((branch.then, targets[0]), (branch.otherwise, targets[1])):
            on = self._edge(label, target, arm, frames)
            if on is not None and on != join:
                arm += self._region(on, join, frames)
            ends.append(on)
        return None if ends == [None, None] else join

    def _edge(self, source: str, target: str, body: Body, frames: list[_Frame]) -> str | None:
        """Go from a block to another: the label to go on with, END for the next round, None where a loop is left."""
        self._copies(source, target, body)
        return self._go(target, body, frames[-1])

    def _go(self, target: str, body: Body, frame: _Frame) -> str | None:
        if target == frame.head:
            return END
        if target in frame.blocks:
            return target
        if target != frame.follow:
            flag = frame.far.setdefault(target, f"%-leave.{len(frame.far)}.{frame.head}")
            body.append(Flag(flag, 1))
        body.append(Break())
        return None

    def _loop(self, head: str, body: Body, stop: str, frames: list[_Frame]) -> str | None:
        """Write a loop; the block after it, None if there is none."""
        outer = frames[-1]
        blocks, follow = self._extent(head, outer)
        frame = _Frame(head, blocks, follow, self._postdominators(blocks, head))
        loop = Loop(head)
        loop.body = self._region(head, END, [*frames, frame])
        body += (Flag(flag, 0) for flag in frame.far.values())
        self._add(body, loop)
        tail = body
        for target, flag in frame.far.items():
            test = If(flag)
            on = self._go(target, test.then, outer)
            if on is not None and on != stop:
                test.then += self._region(on, stop, frames)
            self._add(tail, test)
            if on is not None:
                tail = test.otherwise
        on = self._go(follow, tail, outer) if follow is not None else None
        if tail is not body and on is not None and on != stop:
            tail += self._region(on, stop, frames)
        return on if tail is body else stop

    def _extent(self, head: str, outer: _Frame) -> tuple[set[str], str | None]:
        """The blocks of a loop, those between its exits and their join block, and that block."""
        blocks = set(self._loops[head])
        exits = [target for label in self._flow.order if label in blocks for target in self._flow.following[label]
                 if target not in blocks]  # fmt: skip
        near = [target for target in exits if target in outer.blocks]
        if not near:
            return blocks, max(exits, key=exits.count) if exits else None
        follow = outer.join(near)
        if follow == END:
            return blocks, max(near, key=near.count)
        waiting = [target for target in near if target != follow]
        while waiting:
            label = waiting.pop()
            if label in outer.blocks and label not in blocks and head in self._flow.dominators[label]:
                blocks.add(label)
                waiting += (target for target in self._flow.following[label] if target != follow)
        return blocks, follow

    def _copies(self, source: str, target: str, body: Body) -> None:
        values = []
        for instruction in self._flow.blocks[target].instructions:
            if instruction.opcode != "phi":
                break
            type_ = instruction.text.split(" [")[0].split(" ")[-1]
            incoming = {label.lstrip("%"): value for value, label in instruction.incoming}
            values.append((instruction.result, incoming[source], type_))
        if values:
            self._add(body, Copies(values))

    def _postdominators(self, blocks: set[str], head: str) -> dict[str, set[str]]:
        """The postdominators of each block, on paths that do not leave `blocks`.

        END is the end of the round. Edges that leave, and the end of the kernel, are ignored.
        """
        order = [label for label in self._flow.order if label in blocks]
        following = {label: [END if target == head else target for target in self._flow.following[label]
                             if target in blocks] for label in order}  # fmt: skip
        postdominators = {label: {*order, END} for label in order}
        postdominators[END] = {END}
        changed = True
        while changed:
            changed = False
            for label in reversed(order):
                paths = [postdominators[target] for target in following[label]]
                found = (set.intersection(*paths) if paths else {END}) | {label}
                if found != postdominators[label]:
                    postdominators[label], changed = found, True
        return postdominators

    def _add(self, body: Body, statement: Statement) -> None:
        self._count += 1
        if self._count > MOST_STATEMENTS:
            raise TooLargeError
        body.append(statement)


def loops(flow: Flow) -> dict[str, set[str]]:
    """The blocks of each loop by its head."""
    found: dict[str, set[str]] = {}
    for label in flow.order:
        for head in flow.following[label]:
            if head in flow.dominators[label]:
                blocks = found.setdefault(head, {head})
                waiting = [label]
                while waiting:
                    at = waiting.pop()
                    if at not in blocks:
                        blocks.add(at)
                        waiting += flow.leading[at]
    return found
