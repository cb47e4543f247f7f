"""The masks of a wavefront, the stack's included, and what CF instructions do to them.

Masks are kept ones. A lane is active while it is in `branch_mask` and neither in `continue_mask` nor in `break_mask`.
Source: R700-Family Instruction Set Architecture, chapter 3.
"""

from llvmlite import ir

from ctm.rtl.isa.r700.limits import LOOP_INDEX_BITS
from ctm.sim.engines.fast.kernel import Kernel
from ctm.sim.engines.fast.vector.lanes import INT, Value
from ctm.sim.golden.r700.state import BRANCH, BREAK, CONTINUE, ENTERED

_ROUNDS, _LOOP_INDEX = ENTERED + 1, ENTERED + 2
"""Beside the masks of a loop's entry: rounds that remain, and aL as it was before the loop."""


class Masks:
    """The state that control flow changes; entries of the stack are numbered from its bottom."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel, self._lanes = kernel, kernel.lanes
        builder = kernel.lanes.builder
        self._branch_mask, self._continue_mask, self._break_mask, self._valid_mask, self._active = (
            builder.alloca(kernel.lanes.integers) for _ in range(5)
        )
        self._loop_index = builder.alloca(INT)
        self._kept: dict[tuple[int, int], Value] = {}

    def clear(self) -> None:
        """As at a program's start: all lanes are active and valid."""
        lanes, builder = self._lanes, self._lanes.builder
        for pointer in (self._branch_mask, self._valid_mask, self._active):
            builder.store(lanes.all, pointer)
        for pointer in (self._continue_mask, self._break_mask):
            builder.store(lanes.none, pointer)
        builder.store(ir.Constant(INT, 0), self._loop_index)

    @property
    def active(self) -> Value:
        """Lanes that are active."""
        return self._load(self._active)

    @property
    def valid_mask(self) -> Value:
        """Lanes that were not killed."""
        return self._load(self._valid_mask)

    @property
    def loop_index(self) -> Value:
        """AL, a scalar."""
        return self._lanes.builder.load(self._loop_index, typ=INT)

    def kill(self, lanes: Value) -> None:
        """Clear the valid bits of lanes."""
        builder = self._lanes.builder
        builder.store(builder.and_(self.valid_mask, builder.not_(lanes)), self._valid_mask)

    def remove(self, lanes: Value) -> Value:
        """Take lanes out of `branch_mask`; those that were in it."""
        builder = self._lanes.builder
        off = builder.and_(lanes, self._load(self._branch_mask))
        builder.store(builder.and_(self._load(self._branch_mask), builder.not_(off)), self._branch_mask)
        self._update()
        return off

    def restrict(self, test: Value) -> None:
        """Take the active lanes that fail `test` out of `branch_mask`."""
        builder = self._lanes.builder
        kept = builder.or_(test, builder.not_(self.active))
        builder.store(builder.and_(self._load(self._branch_mask), kept), self._branch_mask)
        self._update()

    def push(self, entry: int) -> None:
        """Keep `branch_mask` on the stack."""
        self._keep(entry, BRANCH, self._load(self._branch_mask))

    def pop(self, entry: int) -> None:
        """Make the branch mask what it was when the entry at `entry` was made."""
        self._lanes.builder.store(self._get(entry, BRANCH), self._branch_mask)
        self._update()

    def invert(self, entry: int, where: Value) -> None:
        """ELSE: the lanes of the entry at `entry` that are not in `branch_mask`, if the bit `where` is set."""
        builder = self._lanes.builder
        branch = self._load(self._branch_mask)
        other = builder.and_(self._get(entry, BRANCH), builder.not_(branch))
        builder.store(builder.select(where, other, branch), self._branch_mask)
        self._update()

    def enter_loop(self, entry: int, test: Value, rounds: Value, first_index: Value | None) -> None:
        """Begin a loop for the lanes in `test`; with `first_index` it has an aL of its own."""
        lanes, builder = self._lanes, self._lanes.builder
        masks = {BRANCH: self._branch_mask, CONTINUE: self._continue_mask, BREAK: self._break_mask}
        for row, mask in masks.items():
            self._keep(entry, row, self._load(mask))
        self._keep(entry, ENTERED, test)
        self._keep(entry, _ROUNDS, rounds)
        self._keep(entry, _LOOP_INDEX, self.loop_index)
        if first_index is not None:
            self._set_loop_index(first_index)
        builder.store(test, self._branch_mask)
        builder.store(lanes.none, self._continue_mask)
        builder.store(builder.not_(test), self._break_mask)
        self._update()

    def leave(self, entry: int, test: Value, *, breaks: bool) -> Value:
        """BREAK or CONTINUE of the loop at `entry` for the lanes in `test`; those that remain in this round."""
        builder = self._lanes.builder
        self.leave_round(test, breaks=breaks)
        out = builder.or_(self._load(self._break_mask), self._load(self._continue_mask))
        return builder.and_(self._get(entry, ENTERED), builder.not_(out))

    def leave_round(self, lanes: Value, *, breaks: bool) -> None:
        """Lanes that break or continue."""
        builder, mask = self._lanes.builder, self._break_mask if breaks else self._continue_mask
        builder.store(builder.or_(self._load(mask), lanes), mask)
        self._update()

    def restore_branch(self, lanes: Value) -> None:
        """Put lanes into `branch_mask` again."""
        builder = self._lanes.builder
        builder.store(builder.or_(self._load(self._branch_mask), lanes), self._branch_mask)

    def next_round(self, entry: int, step: Value | None, *, counted: bool) -> Value:
        """LOOP_END of the loop at `entry`; one bit: whether it has more rounds for any lane."""
        lanes, builder = self._lanes, self._lanes.builder
        builder.store(lanes.none, self._continue_mask)
        builder.store(self._get(entry, ENTERED), self._branch_mask)
        self._update()
        if step is not None:
            self._set_loop_index(builder.add(self.loop_index, step))
        again = lanes.any(self.active)
        if not counted:
            return again
        left = builder.sub(self._get(entry, _ROUNDS), ir.Constant(INT, 1))
        self._keep(entry, _ROUNDS, left)
        return builder.and_(again, builder.icmp_unsigned("!=", left, ir.Constant(INT, 0)))

    def leave_loop(self, entry: int) -> None:
        """Restore what was before the loop at `entry`."""
        builder = self._lanes.builder
        masks = {BRANCH: self._branch_mask, CONTINUE: self._continue_mask, BREAK: self._break_mask}
        for row, mask in masks.items():
            builder.store(self._get(entry, row), mask)
        builder.store(self._get(entry, _LOOP_INDEX), self._loop_index)
        self._update()

    def _update(self) -> None:
        """Make the active mask that of the masks that it follows from."""
        kernel, builder = self._kernel, self._lanes.builder
        out = builder.or_(self._load(self._continue_mask), self._load(self._break_mask))
        active = builder.and_(self._load(self._branch_mask), builder.not_(out))
        builder.store(active, self._active)
        kernel.counts.add()
        kernel.counts.change(self._lanes.all, active, kernel.frame.wavefront_lanes)

    def _load(self, pointer: Value) -> Value:
        return self._lanes.builder.load(pointer, typ=self._lanes.integers)

    def _set_loop_index(self, value: Value) -> None:
        wrapped = self._lanes.builder.and_(value, ir.Constant(INT, (1 << LOOP_INDEX_BITS) - 1))
        self._lanes.builder.store(wrapped, self._loop_index)

    def _keep(self, entry: int, row: int, value: Value) -> None:
        if (entry, row) not in self._kept:
            with self._lanes.builder.goto_entry_block():
                self._kept[entry, row] = self._lanes.builder.alloca(value.type)
        self._lanes.builder.store(value, self._kept[entry, row])

    def _get(self, entry: int, row: int) -> Value:
        kind = INT if row in (_ROUNDS, _LOOP_INDEX) else self._lanes.integers
        if (entry, row) not in self._kept:
            with self._lanes.builder.goto_entry_block():
                self._kept[entry, row] = self._lanes.builder.alloca(kind)
        return self._lanes.builder.load(self._kept[entry, row], typ=kind)
