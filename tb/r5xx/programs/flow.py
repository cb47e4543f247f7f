"""Random flow control that no compiler writes: every field drawn, jumps to anywhere, stacks to their limits.

A program is a chain of blocks: an instruction that sets the ALU result, a few more, a flow-control instruction. Jumps
aim at the beginnings of blocks, so every decision has an ALU result of its own and nothing is read too early. Some
programs never end or overflow a stack: the watchdog stops them,
below the limit from which the golden model skips rounds.
"""

from dataclasses import dataclass, field

import numpy as np

from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.limits import BOOL_CONSTANTS, FLOAT_CONSTANTS, INT_CONSTANTS, OUTPUTS
from ctm.rtl.isa.r5xx.instruction import COMMON, RGB_INST
from ctm.rtl.isa.r5xx.limits import INSTRUCTION_SLOTS
from ctm.rtl.isa.r5xx.opcodes import (
    AddressOperation,
    BranchOperation,
    FlowOperation,
    InputModifier,
    JumpFunction,
    RgbOperation,
    Swizzle,
    TextureOperation,
    ZeroTest,
)
from ctm.rtl.isa.r5xx.program import US_FC_CTRL
from ctm.rtl.isa.word import pack, replace
from ctm.sim.elf import write
from ctm.sim.elf.r5xx.executable import Executable
from ctm.sim.runtime import CommandBuffer, Layout
from ctm.tb.lib.random_values import random_floats
from ctm.tb.r5xx.machine import BOOLS, FLOATS, INTS, OUTPUT, PROGRAM, Instruction, alu, flow, move, tex
from ctm.tb.r5xx.random_alu import TEMPORARIES, random_words
from ctm.tb.r5xx.random_cases import Case
from ctm.tb.r5xx.statements import add, compare, predicate

_FILLER = (0,) * 6
_OUTPUT_DISTANCE = 0x40000
_MOST_INSTRUCTIONS = 250
_MOST_STEPS = 2_500
_PLAIN_FUNCTIONS = [function.value for function in JumpFunction]
PARITY = TEMPORARIES + 1
"""The temporary that holds 0 or 1/2 in red by the parity of the column, in green by that of the row; blue is red - 1/2,
negative in even columns."""
_COLORS = ("red", "green", "blue")
_SAME = {f"{color}_swiz_a": channel for channel, color in enumerate(_COLORS)}
_TIMES_ONE = {f"{color}_swiz_b": Swizzle.ONE.value for color in _COLORS}
_TIMES_ONE |= {f"{color}_swiz_c": Swizzle.ZERO.value for color in _COLORS}
_BRANCHES = ((0.4, 0.35, 0.25), (0.2, 0.1, 0.7))
"""How often NONE, DECR and INCR are drawn: in most programs, and in those whose counters are to overflow."""
_REPLICATED = (0, 2, 2, 3, 3, 4, 5)
"""Predicate selects that are legal in flow control."""


@dataclass
class _Jump:
    """A flow-control instruction at a fixed address, whose target may still change."""

    index: int
    block: int
    """The block that it aims at."""
    inst: dict[str, int]
    addr: dict[str, int]
    common: dict[str, int]


@dataclass
class _Loop:
    """A loop that would be open here if nothing jumped."""

    kind: FlowOperation
    first: int
    """The block after its begin."""
    leaving: list[_Jump] = field(default_factory=list)
    """Jumps to its end or after it."""


@dataclass
class _Blocks:
    """Draws the blocks of a program; targets are filled in when all blocks have their addresses."""

    generator: np.random.Generator
    full: bool
    offset: int
    branches: tuple[float, float, float]
    starts: list[int] = field(default_factory=list)
    code: list[Instruction] = field(default_factory=list)
    jumps: list[_Jump] = field(default_factory=list)
    loops: list[_Loop] = field(default_factory=list)
    calls: int = 0
    """Calls drawn so far without a return."""

    def chance(self, probability: float) -> bool:
        return bool(self.generator.random() < probability)

    def one_of(self, values: object) -> int:
        return int(self.generator.choice(values))  # type: ignore[call-overload]

    def draw(self, count: int) -> None:
        """Draw `count` blocks, and an OUTPUT after them."""
        self.code += _parities()
        for block in range(count):
            self.starts.append(len(self.code))
            self.code.append(self._decisive())
            for _ in range(self.one_of([0, 0, 1, 2])):
                self.code.append(self._other())
            self._flow(block)
        self.starts.append(len(self.code))
        self.code.append(move(0, 0, output=0, nop=1))
        for jump in self.jumps:
            target = self.starts[min(max(jump.block, 0), count)] + self.offset * jump.addr["jump_global"]
            target = INSTRUCTION_SLOTS - 1 if self.chance(0.002) else target
            self.code[jump.index] = flow(inst=jump.inst, addr={**jump.addr, "jump_addr": target}, **jump.common)

    def _decisive(self) -> Instruction:
        """An instruction that sets the ALU result: by the parity of column or row, by their size, by anything."""
        constant, test = int(self.generator.integers(16)), ZeroTest(int(self.generator.integers(4)))
        kind = self.generator.choice(3, p=[0.55, 0.25, 0.2])
        if kind == 0:
            rgb = {"addr0": PARITY, "red_swiz_a": self.one_of([0, 1]), **_TIMES_ONE, "alu_wmask": 1}
            return alu(rgb=rgb, alu_result_op=self.one_of([0, 3]), nop=1)
        if kind == 1:
            return compare(constant, test, channel=self.one_of([0, 1]), nop=1)
        return self._random(alu_wmask=1)

    def _random(self, alu_wmask: int) -> Instruction:
        words = list(random_words(self.generator))
        words[0] = replace(COMMON, words[0], type=0, nop=1, last=0, rgb_omask=self.one_of([0, 0, 0, 3]))
        words[3] = replace(RGB_INST, words[3], alu_wmask=alu_wmask)
        return tuple(words)

    def _other(self) -> Instruction:
        """Predicate bits, other coordinates, liveness, an output, or a random instruction."""
        fields = {"nop": 1, "write_inactive": int(self.chance(0.2)), "last": int(self.chance(0.03))}
        constant, test = int(self.generator.integers(16)), ZeroTest(int(self.generator.integers(4)))
        kind = self.generator.choice(6, p=[0.18, 0.18, 0.14, 0.1, 0.18, 0.22])
        if kind == 5:
            return _parity_predicates(self.one_of([1, 2, 3, 3]), test=self.one_of([0, 3]), **fields)
        if kind == 0:
            mask, channel = int(self.generator.integers(1, 8)), self.one_of([0, 1])
            return predicate(constant, test, mask=mask, channel=channel, **fields)
        if kind == 1:
            return add(constant, temporary=self.one_of([0, 0, 1]), relative=False, **fields)
        if kind == 2:
            is_kill = self.chance(0.6)
            operation = TextureOperation.KILL_LT_0 if is_kill else TextureOperation.NOP
            mask, gate = self.one_of([1, 2, 4, 4]), self.one_of(_REPLICATED)
            inst, addr = {"inst": operation.value}, {"src_addr": self.one_of([0, 1, PARITY, PARITY])}
            return tex(inst=inst, addr=addr, rgb_wmask=mask, rgb_pred_sel=gate, last=fields["last"])
        if kind == 3:
            return move(0, self.one_of([0, 1, 2, 3]), output=self.one_of(range(OUTPUTS)), **fields)
        return self._random(alu_wmask=int(self.chance(0.5)))

    def _flow(self, block: int) -> None:
        generator = self.generator
        branch = list(self.branches)
        inst = {
            "jump_func": self.one_of(_PLAIN_FUNCTIONS) if self.chance(0.6) else int(generator.integers(256)),
            "jump_any": int(self.chance(0.4)),
            "b_else": int(self.chance(0.15)),
            "a_op": self._address_operation(),
            "b_op0": int(generator.choice(len(BranchOperation), p=branch)),
            "b_op1": int(generator.choice(len(BranchOperation), p=branch)),
            "b_pop_cnt": self.one_of([1, 1, 1, 2, 3, 0, 31]),
            "ignore_uncovered": int(self.chance(0.4)),
        }
        addr = {
            "bool_addr": int(generator.integers(BOOL_CONSTANTS)),
            "int_addr": int(generator.integers(INT_CONSTANTS)),
            "jump_global": int(self.chance(0.3)),
        }
        common = {
            "alu_wait": 1, "last": int(self.chance(0.03)), "write_inactive": int(self.chance(0.5)),
            "rgb_pred_sel": self.one_of(_REPLICATED), "rgb_pred_inv": int(self.chance(0.5)),
            "alpha_pred_sel": int(generator.integers(6)), "alpha_pred_inv": int(self.chance(0.5)),
        }  # fmt: skip
        if self.chance(0.002):
            inst["b_op1"] = len(BranchOperation)
        jump = _Jump(len(self.code), 0, inst, addr, common)
        operation, jump.block = self._operation(block, jump)
        inst["op"] = operation.value
        self.jumps.append(jump)
        self.code.append(_FILLER)

    def _address_operation(self) -> int:
        """Calls, and returns where a call was drawn; now and then one too many."""
        if not self.full and self.chance(0.98):
            return AddressOperation.NONE.value
        if self.chance(0.12):
            self.calls += 1
            return AddressOperation.PUSH.value
        if self.chance(0.2 if self.calls else 0.01):
            self.calls = max(0, self.calls - 1)
            return AddressOperation.POP.value
        return AddressOperation.NONE.value

    def _operation(self, block: int, jump: _Jump) -> tuple[FlowOperation, int]:
        """An operation that fits the loops that are open, now and then one that does not; the block aimed at."""
        forward = block + 1 + int(self.generator.geometric(0.4))
        anywhere = forward if self.chance(0.85) else block - int(self.generator.integers(0, 8))
        if not self.full and self.chance(0.98):
            return FlowOperation.JUMP, anywhere
        if self.chance(0.01):
            return FlowOperation(int(self.generator.integers(len(FlowOperation)))), anywhere
        if self.loops and self.chance(0.55):
            return self._in_loop(block, jump, forward)
        if self.chance(0.3):
            kind = FlowOperation.LOOP if self.chance(0.5) else FlowOperation.REP
            self.loops.append(_Loop(kind, block + 1, [jump]))
            jump.inst |= {"jump_func": self.one_of([0, 0, jump.inst["jump_func"]])}
            return kind, forward
        return FlowOperation.JUMP, anywhere

    def _in_loop(self, block: int, jump: _Jump, forward: int) -> tuple[FlowOperation, int]:
        """Another round, a BREAK or a CONTINUE of the innermost loop."""
        loop = self.loops[-1]
        is_loop = loop.kind is FlowOperation.LOOP
        path = self.generator.choice(3, p=[0.3, 0.35, 0.35])
        if path == 0:
            self.loops.pop()
            for leaving in loop.leaving:
                continues = leaving.inst["op"] == FlowOperation.CONTINUE.value
                leaving.block = block if continues else block + 1
            return FlowOperation.ENDLOOP if is_loop else FlowOperation.ENDREP, loop.first
        loop.leaving.append(jump)
        if path == 1:
            return FlowOperation.BREAKLOOP if is_loop else FlowOperation.BREAKREP, forward
        return FlowOperation.CONTINUE, forward


def _parities() -> list[Instruction]:
    """What PARITY holds, and the predicate bits of red and green alike."""
    halves = {**_TIMES_ONE, **{f"{color}_swiz_b": Swizzle.HALF.value for color in _COLORS}}
    half = alu(rgb={"addr0": 0, "rgb_addrd": PARITY, **_SAME, **halves}, rgb_wmask=3, nop=1)
    parity = {"addr0": PARITY, "rgb_addrd": PARITY}
    fraction = alu(rgb={**parity, "rgb_op": RgbOperation.FRC.value, **_SAME}, rgb_wmask=3, nop=1)
    below = {**parity, **_TIMES_ONE, "blue_swiz_c": Swizzle.HALF.value, "rgb_mod_c": InputModifier.NEG.value}
    return [half, fraction, alu(rgb=below, rgb_wmask=4, nop=1), _parity_predicates(3, test=3, nop=1)]


def _parity_predicates(mask: int, *, test: int, **fields: int) -> Instruction:
    rgb = {"addr0": PARITY, "target": test, **_SAME, **_TIMES_ONE}
    return alu(rgb=rgb, alpha=None, rgb_omask=mask, **fields)


def random_flow_case(seed: int, *, lanes: int) -> Case:
    """Draw a case; the same for the same seed and number of lanes."""
    generator = np.random.default_rng([seed, lanes, 1])
    full, offset = bool(generator.random() < 0.85), int(generator.choice([0, 7]))
    blocks = _Blocks(generator, full, offset, _BRANCHES[int(generator.random() < 0.2)])
    blocks.draw(int(generator.integers(6, 24)))
    length = len(blocks.code)
    end = length - 1 if generator.random() < 0.6 else int(generator.integers(length // 2, length))
    executable = Executable(
        instructions=(_FILLER,) * offset + tuple(blocks.code), end=end, offset=offset,
        highest_temporary=PARITY, us_fc_ctrl=pack(US_FC_CTRL, full_fc_en=int(full)),
    )  # fmt: skip
    width, height = 2 * lanes, int(generator.integers(5, 12))
    i0, j0 = int(generator.integers(0, 3)), int(generator.integers(0, 3))
    domain = (i0, j0, i0 + width, j0 + height)
    contents, commands = _surroundings(generator, executable, domain)
    wavefronts = (width * 2 // lanes + 1) * (height // 2 + 1)
    longest = min(_MOST_INSTRUCTIONS, _MOST_STEPS // wavefronts)
    return Case(seed, lanes, executable, contents, commands, int(generator.integers(longest // 4, longest)))


def _surroundings(
    generator: np.random.Generator, executable: Executable, domain: tuple[int, int, int, int]
) -> tuple[tuple[tuple[int, bytes], ...], CommandBuffer]:
    """Memory and state of the machine; the first constants are near the domain's coordinates."""
    floats = random_floats(generator, (FLOAT_CONSTANTS, 4))
    floats[:16, 0] = generator.integers(-1, max(domain) + 1, 16).astype(np.float32).view(np.uint32)
    ints = generator.integers(256, size=(INT_CONSTANTS, 4), dtype=np.uint8)
    # A count of 0 is the only reason for which a loop that no lane decides about is jumped over.
    ints[:, 0] = generator.choice([0, 0, 1, 2, 2, 3, 4, 255], INT_CONSTANTS)
    booleans = generator.choice([0, 1, 0x100, 0x80], BOOL_CONSTANTS).astype("<u4")
    layout = Layout(width=domain[2] + 1, height=domain[3] + 1, format=DataFormat.FLOAT32_4)
    commands = CommandBuffer().set_inst_fmt(PROGRAM).set_constf_fmt(FLOATS).set_consti_fmt(INTS).set_constb_fmt(BOOLS)
    for output in range(OUTPUTS):
        commands.set_out_fmt(output, OUTPUT + _OUTPUT_DISTANCE * output, layout.format_word, layout.height)
    commands.set_domain(*domain)
    memory = ((PROGRAM, write(executable)), (FLOATS, floats.tobytes()), (INTS, ints.tobytes()),
              (BOOLS, booleans.tobytes()))  # fmt: skip
    return memory, commands
