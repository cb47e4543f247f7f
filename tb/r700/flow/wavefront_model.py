"""A model of CF instructions on one wavefront, step by step as in the manual; bit k of a mask is pixel k."""

from collections.abc import Mapping
from dataclasses import dataclass, field

_FETCHES = ("TEX", "VTX", "VTX_TC", "TEX_ACK", "VTX_ACK", "VTX_TC_ACK")
_LOOPS = ("LOOP_START", "LOOP_START_DX10", "LOOP_START_NO_AL")
_POP_FIRST = {"POP_JUMP": "JUMP", "POP_PUSH": "PUSH", "POP_PUSH_ELSE": "PUSH_ELSE"}
_CONDITIONAL = (
    *_LOOPS, *_POP_FIRST, *_POP_FIRST.values(), "ELSE", "POP", "LOOP_BREAK", "LOOP_CONTINUE", "CALL", "RETURN",
)  # fmt: skip
"""Words for which COND means anything."""
_DEEPEST_CALL = 32
_UNLIMITED = -1


@dataclass(frozen=True, kw_only=True)
class Word:
    """A CF instruction: its name, its fields by short names, and whether it is illegal."""

    name: str
    addr: int = 0
    units: int = 1
    pop: int = 0
    cond: str = "ACTIVE"
    const: int = 0
    calls: int = 0
    ends: bool = False
    valid_pixels: bool = False
    whole_quads: bool = False
    relative: bool = False
    illegal: bool = False

    @property
    def starts(self) -> str:
        """What it starts: an "alu" clause, a "fetch" clause, an "export", or nothing."""
        if self.name.startswith("ALU"):
            return "alu"
        if self.name in _FETCHES:
            return "fetch"
        return "export" if self.name.endswith("EXPORT") else ""


@dataclass(frozen=True, kw_only=True)
class Constants:
    """Int constants as (count, start, step), bool ones; the bank that has error responses, if one."""

    ints: Mapping[int, tuple[int, int, int]]
    bools: Mapping[int, bool]
    error: str = ""


@dataclass
class Entry:
    """An entry of the stack."""

    kind: str
    branch_mask: int = 0
    continue_mask: int = 0
    break_mask: int = 0
    entered: int = 0
    count: int = 0
    index: int = 0
    step: int = 0
    target: int = 0


class StopError(Exception):
    """The wavefront stops, with a status."""


@dataclass
class Wavefront:
    """A wavefront of `size` pixels and its program.

    `space` are the subentries of its stack. `budget` are instructions until the watchdog ends it, if it is `watched`.
    `word` is the index of the next instruction, `index` the loop index aL. Methods raise `StopError` with the name of a
    status.
    """

    size: int
    covered: int
    words: list[Word]
    constants: Constants
    space: int
    budget: int
    watched: bool
    word: int = 0
    index: int = 0
    continue_mask: int = 0
    break_mask: int = 0
    branch_mask: int = field(init=False)
    valid_mask: int = field(init=False)
    stack: list[Entry] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.branch_mask = self.valid_mask = self.all = (1 << self.size) - 1

    @property
    def active(self) -> int:
        """Pixels that are active."""
        return self.branch_mask & ~self.continue_mask & ~self.break_mask

    @property
    def depth(self) -> int:
        """Subentries in use; two more are reserved while there is a branch."""
        return sum(4 if each.kind == "loop" else 1 for each in self.stack)

    def begin(self) -> Word | None:
        """Count an instruction and return it; None at the end."""
        if self.watched and self.budget == 0:
            raise StopError("WATCHDOG")
        if not self.valid_mask & self.covered:
            return None
        if self.word >= len(self.words):
            raise StopError("PC_RANGE")
        self.budget = (self.budget - 1) % (1 << 32)
        word = self.words[self.word]
        if word.illegal:
            raise StopError("ILLEGAL_INSTRUCTION")
        return word

    def passing(self, word: Word) -> int:
        """Pixels that pass a word's test."""
        if word.name in _CONDITIONAL:
            if word.cond == "FALSE":
                return 0
            if word.cond != "ACTIVE" and self.constants.bools[word.const] != (word.cond == "BOOL"):
                return 0
        return self.active & (self.valid_mask & self.covered if word.valid_pixels else self.all)

    def execute(self, word: Word) -> bool:
        """Execute a CF instruction; whether it starts a clause or an export, after which `go_on` comes."""
        if word.name in _CONDITIONAL and word.cond in ("BOOL", "NOT_BOOL") and self.constants.error == "BOOL":
            raise StopError("BOOL_CONSTANT")
        if word.name in ("LOOP_START", "LOOP_START_NO_AL") and self.constants.error == "INT":
            raise StopError("INT_CONSTANT")
        if not word.starts:
            getattr(self, f"word_{word.name.lower()}")(word)
            return False
        if word.name == "ALU_PUSH_BEFORE":
            self._push(Entry("branch", branch_mask=self.branch_mask))
        if word.starts == "export":
            if word.relative and not any(each.kind == "loop" for each in self.stack):
                raise StopError("ILLEGAL_INSTRUCTION")
            return True
        if not self.passing(word):
            self.go_on(word, 0)
            return False
        if word.addr + word.units > len(self.words):
            raise StopError("PC_RANGE")
        return True

    def go_on(self, word: Word, cleared: int) -> None:
        """Execute an ALU instruction after its clause, which cleared the pixels `cleared` of the branch mask."""
        if word.name == "ALU_ELSE_AFTER":
            self.branch_mask = self._top("branch").branch_mask & ~self.branch_mask
        elif word.name.startswith("ALU_POP"):
            self._pop(2 if "2" in word.name else 1)
        elif word.name == "ALU_BREAK":
            self.branch_mask, self.break_mask = self.branch_mask | cleared, self.break_mask | cleared
        elif word.name == "ALU_CONTINUE":
            self.branch_mask, self.continue_mask = self.branch_mask | cleared, self.continue_mask | cleared
        self.word += 1

    def _push(self, entry: Entry) -> None:
        after = [*self.stack, entry]
        taken = sum(4 if each.kind == "loop" else 1 for each in after)
        if taken + 2 * any(each.kind == "branch" for each in after) > self.space:
            raise StopError("STACK")
        self.stack.append(entry)

    def _top(self, kind: str) -> Entry:
        if not self.stack or self.stack[-1].kind != kind:
            raise StopError("STACK")
        return self.stack[-1]

    def _pop(self, count: int) -> None:
        for _ in range(count):
            self.branch_mask = self._top("branch").branch_mask
            self.stack.pop()

    def _leave(self, word: Word) -> None:
        self._pop(word.pop)
        self.word = word.addr

    def _loop(self) -> Entry:
        """The innermost loop's entry."""
        found = next((each for each in reversed(self.stack) if each.kind == "loop"), None)
        if found is None:
            raise StopError("STACK")
        return found

    def _unwind(self, entry: Entry) -> None:
        """Remove what is above an entry."""
        while self.stack[-1] is not entry:
            self.stack.pop()

    def word_nop(self, word: Word) -> None:
        self.word += 1

    word_wait_ack = word_nop

    def word_kill(self, word: Word) -> None:
        self.valid_mask &= ~self.passing(word)
        self.word += 1

    def word_jump(self, word: Word) -> None:
        if self.passing(word):
            self.word += 1
        else:
            self._leave(word)

    def word_else(self, word: Word) -> None:
        branch_mask = self._top("branch").branch_mask & ~self.branch_mask
        if word.cond == "ACTIVE" or (word.cond != "FALSE" and self._holds(word)):
            self.branch_mask = branch_mask
        if self.active:
            self.word += 1
        else:
            self._leave(word)

    def _holds(self, word: Word) -> bool:
        return self.constants.bools[word.const] == (word.cond == "BOOL")

    def _restrict(self, word: Word) -> None:
        self.branch_mask &= self.passing(word) | ~self.active

    def word_push(self, word: Word) -> None:
        if not self.passing(word):
            self._leave(word)
            return
        self._push(Entry("branch", branch_mask=self.branch_mask))
        self._restrict(word)
        self.word += 1

    def word_push_else(self, word: Word) -> None:
        self._push(Entry("branch", branch_mask=self.branch_mask))
        self.branch_mask &= ~self.passing(word)
        if self.active:
            self.word += 1
        else:
            self._leave(word)

    def word_pop(self, word: Word) -> None:
        self._pop(word.pop)
        if word.cond != "ACTIVE":
            self._restrict(word)
        self.word += 1

    def _second(self, word: Word) -> None:
        """POP_JUMP, POP_PUSH, POP_PUSH_ELSE."""
        self._pop(word.pop)
        plain = _POP_FIRST[word.name].lower()
        second = Word(
            name=word.name, addr=word.addr, cond=word.cond, const=word.const, valid_pixels=word.valid_pixels
        )  # fmt: skip
        {"jump": self.word_jump, "push": self.word_push, "push_else": self.word_push_else}[plain](second)

    word_pop_jump = word_pop_push = word_pop_push_else = _second

    def word_loop_start(self, word: Word) -> None:
        test, limited = self.passing(word), word.name != "LOOP_START_DX10"
        count, start, step = self.constants.ints[word.const] if limited else (_UNLIMITED, 0, 0)
        if not test or (limited and count == 0):
            self._leave(word)
            return
        indexed = word.name == "LOOP_START"
        self._push(
            Entry(
                "loop", branch_mask=self.branch_mask, continue_mask=self.continue_mask, break_mask=self.break_mask,
                entered=test, count=count, index=self.index,
                step=step if indexed else 0,
            )
        )  # fmt: skip
        self.branch_mask, self.continue_mask, self.break_mask = test, 0, self.all & ~test
        self.index = start if indexed else self.index
        self.word += 1

    word_loop_start_dx10 = word_loop_start_no_al = word_loop_start

    def word_loop_break(self, word: Word) -> None:
        entry, test = self._loop(), self.passing(word)
        if word.name == "LOOP_BREAK":
            self.break_mask |= test
        else:
            self.continue_mask |= test
        if entry.entered & ~self.break_mask & ~self.continue_mask:
            self.word += 1
            return
        self._unwind(entry)
        self.word = word.addr

    word_loop_continue = word_loop_break

    def word_loop_end(self, word: Word) -> None:
        entry = self._loop()
        self._unwind(entry)
        self.continue_mask, self.branch_mask = 0, entry.entered
        self.index = (self.index + entry.step) % (1 << 9)
        entry.count -= entry.count != _UNLIMITED
        if self.active and entry.count:
            self.word = word.addr
            return
        self.stack.pop()
        self.branch_mask, self.continue_mask, self.break_mask = entry.branch_mask, entry.continue_mask, entry.break_mask
        self.index = entry.index
        self.word += 1

    def word_call(self, word: Word) -> None:
        depth = sum(each.count for each in self.stack if each.kind == "call")
        if not self.passing(word) or depth + word.calls > _DEEPEST_CALL:
            self.word += 1
            return
        self._push(Entry("call", target=self.word + 1, count=word.calls))
        self.word = word.addr

    def word_return(self, word: Word) -> None:
        if self.active & ~self.passing(word):
            self.word += 1
            return
        self.word = self._top("call").target
        self.stack.pop()
