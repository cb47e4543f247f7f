"""The interference graph: which variables are live at the same time."""

from collections import defaultdict

from ctm.sim.compiler.r5xx.operations import Choice, Leave, Operation, Repeat, Steps

Live = frozenset[str]
_NONE: Live = frozenset()


class Interference:
    """Variables that cannot share a channel, by name, and the copies between others."""

    def __init__(self, steps: Steps, at_start: Live) -> None:
        self.others: dict[str, set[str]] = defaultdict(set)
        self.copies: list[tuple[str, str]] = []
        self.live_after: dict[int, Live] = {}
        """What is live after a repetition, by its id."""
        live = self._body(steps, _NONE, _NONE)
        for name in at_start:
            self.others[name] |= (live | at_start) - {name}
        for name in live | at_start:
            self.others[name] |= at_start - {name}

    def merge(self, one: str, other: str) -> None:
        """Let `one` be the same variable as `other`."""
        for neighbour in self.others[one]:
            self.others[neighbour].discard(one)
            self.others[neighbour].add(other)
        self.others[other] |= self.others[one]

    def _body(self, steps: Steps, live: Live, live_after: Live) -> Live:
        """What is live before some steps, if `live` is live after them and `live_after` where a loop is left."""
        for step in reversed(steps):
            if isinstance(step, Operation):
                live = self._operation(step, live)
            elif isinstance(step, Choice):
                live = self._body(step.then, live, live_after) | self._body(step.otherwise, live, live_after)
            elif isinstance(step, Leave):
                live = live_after
            else:
                live = self._loop(step, live)
        return live

    def _loop(self, loop: Repeat, after: Live) -> Live:
        self.live_after[id(loop)] = self.live_after.get(id(loop), _NONE) | after
        end = after if loop.rounds else _NONE
        head: Live = end
        while True:
            found = self._body(loop.body, head, after) | end
            if found == head:
                return head
            head = found

    def _operation(self, operation: Operation, live: Live) -> Live:
        copied = operation.copied
        if copied is not None:
            self.copies.append(copied)
        written = set(operation.written)
        for name in written:
            # Those that are written together and never read are written all the same.
            others = (live | written) - {name, copied[1] if copied else name}
            self.others[name] |= others
            for other in others:
                self.others[other].add(name)
        return (live - written) | frozenset(operation.read)
