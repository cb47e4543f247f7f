"""Sets the bits that keep the machine's parallel units in order; CTM Guide pp. 24-26 and 33, R5xx register reference.

The texture semaphore: fetches that do not touch each other's results form a group; its last one acquires, and the
first instruction that reads or overwrites a result waits. A group ends before flow control, which waits, so that of all
paths to a label only the one that falls through to it may have fetches pending; a wait with nothing pending is free.
"""

from collections.abc import Mapping, Sequence

from ctm.rtl.isa.r5xx.opcodes import ACQUIRING, AddressOperation, InstructionType, TextureOperation
from ctm.sim.assembler.r5xx.draft import Draft
from ctm.sim.elf.r5xx.registers import Registers, Usage
from ctm.sim.elf.r5xx.usage import usage

_ARITHMETIC = (InstructionType.ALU, InstructionType.OUTPUT)


def synchronize(drafts: Sequence[Draft], jumps: Mapping[int, int], end: int, *, uncached_writes: bool) -> None:
    """Set NOP, ALU_WAIT, TEX_SEM_WAIT and TEX_SEM_ACQUIRE where they are needed; bits that are set already stay.

    `jumps` maps slots of jumps to the slots of their targets; `end` is the slot after which a program ends.
    """
    uses = [usage(draft.words) for draft in drafts]
    for draft in drafts:
        if draft.kind is InstructionType.FC:
            draft.set("common", alu_wait=1)
    _insert_bubbles(drafts, uses, jumps)
    semaphore = _Semaphore()
    for slot, (draft, use) in enumerate(zip(drafts, uses, strict=True)):
        semaphore.guard(draft, use, is_end=slot == end)
        semaphore.follow(draft, use, uncached_writes=uncached_writes)


def _insert_bubbles(drafts: Sequence[Draft], uses: Sequence[Usage], jumps: Mapping[int, int]) -> None:
    """NOP on whichever ALU or OUTPUT instruction may come right before one that needs the bubble."""
    before = _predecessors(drafts, jumps)
    for slot, use in enumerate(uses):
        waiting, seen = list(before[slot] if use.bubble else ()), set[int]()
        while waiting:
            earlier = waiting.pop()
            if earlier in seen:
                continue
            seen.add(earlier)
            if drafts[earlier].kind not in _ARITHMETIC:
                waiting += before[earlier]
            elif uses[earlier].writes.overlaps(use.bubble):
                drafts[earlier].set("common", nop=1)


def _predecessors(drafts: Sequence[Draft], jumps: Mapping[int, int]) -> list[list[int]]:
    """The slots that may be executed right before each slot, or more; a return comes from anywhere."""
    before = [[slot - 1] if slot else [] for slot in range(len(drafts))]
    for source, target in jumps.items():
        if target < len(drafts):
            before[target].append(source)
    returns = [slot for slot in jumps if _address_operation(drafts[slot]) == AddressOperation.POP.value]
    for slot in jumps:
        if _address_operation(drafts[slot]) == AddressOperation.PUSH.value and slot + 1 < len(drafts):
            before[slot + 1] += returns
    return before


def _address_operation(draft: Draft) -> int:
    return draft.get("fc_inst")["a_op"]


class _Semaphore:
    """Walks down the program: results of fetches that are not acquired yet, and results that are held."""

    def __init__(self) -> None:
        self._open = Registers()
        self._last_fetch: Draft | None = None
        self._held = Registers()
        self._is_acquired = False
        self._uncached_pending = False

    def guard(self, draft: Draft, use: Usage, *, is_end: bool) -> None:
        """Make an instruction wait for what it touches, and for everything where the group may go elsewhere or end."""
        common = draft.get("common")
        leaves = draft.kind is InstructionType.FC or is_end or bool(common["last"])
        touched = use.reads | use.writes
        uncached = self._uncached_pending and _is_uncached_fetch(draft)
        waits = leaves or uncached or touched.overlaps(self._open) or touched.overlaps(self._held)
        if waits and self._last_fetch is not None and (leaves or touched.overlaps(self._open)):
            self._last_fetch.set("tex_inst", tex_sem_acquire=1)
            self._last_fetch.set("common", tex_sem_wait=1)
            self._acquire()
        ends_with_output = leaves and draft.kind is InstructionType.OUTPUT
        if waits and self._is_acquired or ends_with_output:
            draft.set("common", tex_sem_wait=1)

    def follow(self, draft: Draft, use: Usage, *, uncached_writes: bool) -> None:
        """Take note of what an instruction waits for and acquires."""
        acquires = uncached_writes and bool(use.outputs) and draft.get("rgb_inst")["target"] in ACQUIRING
        if acquires:
            draft.set("common", tex_sem_wait=1)
        if draft.get("common")["tex_sem_wait"]:
            self._held, self._is_acquired, self._uncached_pending = Registers(), False, False
        if draft.kind is InstructionType.TEX and use.writes:
            self._open, self._last_fetch = self._open | use.writes, draft
            if draft.get("tex_inst")["tex_sem_acquire"]:
                draft.set("common", tex_sem_wait=1)
                self._acquire()
        elif acquires:
            self._is_acquired = self._uncached_pending = True

    def _acquire(self) -> None:
        """The last fetch acquires. It waits, so what was held before is there by then."""
        self._held, self._is_acquired = self._open, True
        self._open, self._last_fetch = Registers(), None


def _is_uncached_fetch(draft: Draft) -> bool:
    return draft.kind is InstructionType.TEX and draft.get("tex_inst")["inst"] == TextureOperation.LOOKUP_UNCACHED.value
