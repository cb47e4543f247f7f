"""The prologue of a draw's pixel program: it makes the program's inputs of what the hardware gives.

The hardware gives a wavefront the edge values of its pixels and, as constants, the primitive's record and the
parameters of its vertices (docs/draws.md, has the formulas). On the real chip fixed functions interpolated; what
a program finds in its registers is the same. The prologue is after the programs and ends with a jump to the pixel
program.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ctm.rtl.isa.r700 import alu, control_flow, exports
from ctm.rtl.isa.r700.alu import Op2, Op3
from ctm.rtl.isa.r700.components import ComponentSelect
from ctm.rtl.isa.r700.control_flow import AluClause, CfOperation, Condition, KcacheMode
from ctm.rtl.isa.r700.exports import COMPUTED_DEPTH, ExportOperation
from ctm.rtl.isa.r700.limits import FIRST_CLAUSE_TEMPORARY, KCACHE_LINE_ROWS
from ctm.rtl.isa.word import pack
from ctm.sim.elf.r700.executable import Unit

_RECORD, _PROVOKING = 4, 5
"""Constant banks; those in front are the parameters of vertices 0, 1 and 2."""
_CHANNELS = "xyzw"
_DEFAULTS = ("0000", "0001", "1110", "1111")
_TEMPORARIES = 5


@dataclass(frozen=True, kw_only=True)
class PixelInput:
    """One input. `parameter` is the vector of the vertices that it is, None: a default, 0 to 3.

    `flat`: that of the provoking vertex; `linear`: not divided by w; `sprite`: of a point, where in its square.
    """

    parameter: int | None = None
    default: int = 0
    flat: bool = False
    linear: bool = False
    sprite: bool = False


@dataclass(frozen=True, kw_only=True)
class PixelInputs:
    """What a pixel program finds in its registers: input i in register i, and the numbers of those with a meaning.

    `sprite` are the components of sprite inputs, each 0, 1, S or T; with `sprite_top` T grows upwards. With `depth` the
    prologue exports the interpolated depth.
    """

    inputs: Sequence[PixelInput] = ()
    position: int | None = None
    face: tuple[int, int] | None = None
    """Register and channel."""
    points: bool = False
    sprite: str = "ST01"
    sprite_top: bool = False
    depth: bool = False


@dataclass(frozen=True)
class Prologue:
    """Its units, to stand at the address that they were made for, and what they need."""

    code: tuple[Unit, ...]
    gprs: int
    stack_size: int


@dataclass(frozen=True)
class _Source:
    """An operand: SRC_SEL and channel, and whether it is negated."""

    select: int
    channel: str
    negate: bool = False

    def __neg__(self) -> "_Source":
        return _Source(self.select, self.channel, not self.negate)


def _r(register: int, channel: str) -> _Source:
    return _Source(register, channel)


_ZERO, _ONE, _HALF = (_Source(select, "x") for select in (248, 249, 252))
_LITERAL = _Source(alu.LITERAL, "x")
_256 = 0x4380_0000


@dataclass
class _Clause:
    """An ALU clause: what it locks of each kcache set, as (bank, line), and its units."""

    kind: AluClause
    sets: tuple[tuple[int, int] | None, tuple[int, int] | None]
    units: list[Unit] = field(default_factory=list)

    def add(self, *instructions: tuple[Op2 | Op3, int, str, tuple[_Source, ...]], literal: int | None = None) -> None:
        """A group of instructions: operation, register and channel of the result, operands."""
        for number, (operation, register, channel, operands) in enumerate(instructions):
            self.units.append(_instruction(operation, register, channel, operands, number == len(instructions) - 1))
        if literal is not None:
            self.units.append((literal, 0))

    def constant(self, which: int, row: int, channel: str) -> _Source:
        """A row of the bank that a set locks."""
        locked = self.sets[which]
        assert locked is not None
        first = (alu.KCACHE_0, alu.KCACHE_1)[which]
        return _Source(first + row - KCACHE_LINE_ROWS * locked[1], channel)


@dataclass(frozen=True)
class _Jump:
    """A jump over the next `skips` CF instructions where no pixel is active, which pops."""

    skips: int


@dataclass(frozen=True)
class _Pop:
    """A POP."""


@dataclass(frozen=True)
class _Depth:
    """An export of the depth."""

    register: int
    channel: str


_Step = _Clause | _Jump | _Pop | _Depth


def prologue(inputs: PixelInputs, *, at: int, target: int) -> Prologue:
    """The prologue at the address `at`, which jumps to the program at `target`."""
    builder = _Points(inputs) if inputs.points else _Triangles(inputs)
    steps = builder.steps()
    has_branch = any(isinstance(step, _Pop) for step in steps)
    return Prologue(_laid_out(steps, at, target), builder.gprs, int(has_branch))


class _Builder:
    """What prologues of points and of triangles have in common.

    Temporaries from T on: T+1 has z in y and w in z, T+4 the pixel's position in xy.
    """

    def __init__(self, inputs: PixelInputs) -> None:
        self.inputs = inputs
        taken = [2, len(inputs.inputs)]
        taken += [number + 1 for number in (inputs.position, inputs.face and inputs.face[0]) if number is not None]
        first = max(taken)
        self.a, self.b, self.c, self.d, self.e = range(first, first + _TEMPORARIES)
        self.gprs = first + _TEMPORARIES
        if self.gprs > FIRST_CLAUSE_TEMPORARY:
            raise ValueError(
                f"R{first - 1} is the last register that the pixel program begins with, and it can be at most "
                f"R{FIRST_CLAUSE_TEMPORARY - _TEMPORARIES - 1}: interpolation needs {_TEMPORARIES} more after it"
            )

    def steps(self) -> list[_Step]:
        """Everything but the jump at the end."""
        steps = [*self.before(), *self._pixel()]
        if self.inputs.depth:
            steps.append(_Depth(self.b, "y"))
        for register, each in enumerate(self.inputs.inputs):
            steps += self._input(register, each)
        return [*steps, *self._position(), *self._face()]

    def before(self) -> list[_Step]:
        """What makes z and w, and whatever inputs are made of."""
        raise NotImplementedError

    def interpolated(self, register: int, each: PixelInput, parameter: int) -> list[_Step]:
        """What makes an input that is neither flat nor constant."""
        raise NotImplementedError

    def _pixel(self) -> list[_Step]:
        if self.inputs.position is None and not any(each.sprite for each in self.inputs.inputs):
            return []
        clause = _Clause(AluClause.ALU, (None, None))
        for channel in "xy":
            clause.add((Op2.INT_TO_FLT, self.e, channel, (_r(1, channel),)))
        return [clause]

    def _input(self, register: int, each: PixelInput) -> list[_Step]:
        if each.sprite and self.inputs.points:
            return [self._sprite(register)]
        if each.parameter is None:
            clause = _Clause(AluClause.ALU, (None, None))
            values = (_ONE if digit == "1" else _ZERO for digit in _DEFAULTS[each.default])
            clause.add(*((Op2.MOV, register, c, (value,)) for c, value in zip(_CHANNELS, values, strict=True)))
            return [clause]
        if each.flat:
            return [self._copied(register, _PROVOKING, each.parameter)]
        return self.interpolated(register, each, each.parameter)

    def _copied(self, register: int, bank: int, parameter: int) -> _Clause:
        clause = _Clause(AluClause.ALU, ((bank, parameter // KCACHE_LINE_ROWS), None))
        clause.add(*((Op2.MOV, register, c, (clause.constant(0, parameter, c),)) for c in _CHANNELS))
        return clause

    def _sprite(self, register: int) -> _Clause:
        """Where the pixel is in the point's square, from 0 to 1."""
        clause, c = _Clause(AluClause.ALU, ((_RECORD, 0), None)), self.c
        clause.add(
            *((Op3.MULADD_IEEE, c, k, (_r(self.e, k), _LITERAL, -clause.constant(0, 0, k))) for k in "xy"),
            literal=_256,
        )
        clause.add(*((Op2.MUL_IEEE, c, k, (_r(c, k), clause.constant(0, 0, "z"))) for k in "xy"))
        if self.inputs.sprite_top:
            clause.add((Op2.ADD, c, "y", (_ONE, -_r(c, "y"))))
        values = {"0": _ZERO, "1": _ONE, "S": _r(c, "x"), "T": _r(c, "y")}
        clause.add(
            *((Op2.MOV, register, k, (values[code],)) for k, code in zip(_CHANNELS, self.inputs.sprite, strict=True))
        )
        return clause

    def _position(self) -> list[_Step]:
        register = self.inputs.position
        if register is None:
            return []
        clause = _Clause(AluClause.ALU, (None, None))
        # One register's channel is read in a cycle: e.y and b.y take two groups.
        clause.add(*((Op2.ADD, register, c, (_r(self.e, c), _HALF)) for c in "xy"))
        clause.add((Op2.MOV, register, "z", (_r(self.b, "y"),)), (Op2.MOV, register, "w", (_r(self.b, "z"),)))
        return [clause]

    def _face(self) -> list[_Step]:
        if self.inputs.face is None:
            return []
        register, channel = self.inputs.face
        clause = _Clause(AluClause.ALU, ((_RECORD, 0), None))
        clause.add((Op2.MOV, register, _CHANNELS[channel], (clause.constant(0, 2, "y"),)))
        return [clause]


class _Points(_Builder):
    """Of points everything is constant, but where the pixel is in the square."""

    def before(self) -> list[_Step]:
        clause = _Clause(AluClause.ALU, ((_RECORD, 0), None))
        clause.add(
            (Op2.MOV, self.b, "y", (clause.constant(0, 1, "z"),)), (Op2.MOV, self.b, "z", (clause.constant(0, 6, "x"),))
        )
        return [clause]

    def interpolated(self, register: int, each: PixelInput, parameter: int) -> list[_Step]:
        return [self._copied(register, 1, parameter)]


class _Triangles(_Builder):
    """T.xy are the linear weights of vertices 1 and 2, T.zw those divided by w."""

    def before(self) -> list[_Step]:
        a, b = self.a, self.b
        clause = _Clause(AluClause.ALU, ((_RECORD, 0), None))
        k = clause.constant
        clause.add(*((Op2.MUL_IEEE, a, c, (_r(0, c), k(0, 0, "x"))) for c in "xy"))
        clause.add((Op3.MULADD_IEEE, b, "x", (k(0, 1, "x"), _r(a, "x"), k(0, 0, "y"))))
        clause.add(
            (Op3.MULADD_IEEE, b, "x", (k(0, 1, "y"), _r(a, "y"), _r(b, "x"))),
            (Op3.MULADD_IEEE, b, "y", (k(0, 1, "w"), _r(a, "x"), k(0, 1, "z"))),
        )
        clause.add(
            (Op3.MULADD_IEEE, b, "y", (k(0, 2, "x"), _r(a, "y"), _r(b, "y"))),
            (Op2.MUL_IEEE, a, "z", (_r(a, "x"), k(0, 0, "z"))),
            (Op2.MUL_IEEE, a, "w", (_r(a, "y"), k(0, 0, "w"))),
            (Op2.RECIP_IEEE, b, "z", (_r(b, "x"),)),
        )
        clause.add(*((Op2.MUL_IEEE, a, c, (_r(a, c), _r(b, "z"))) for c in "zw"))
        smooth = [each for each in self.inputs.inputs if each.parameter is not None and not each.flat]
        return [clause, *self._clipped(any(each.linear for each in smooth))] if smooth else [clause]

    def _clipped(self, linear: bool) -> list[_Step]:
        """Where the triangle is a fragment of a clipped one: the weights of the original vertices."""
        a, b, c, d = self.a, self.b, self.c, self.d
        test = _Clause(AluClause.ALU_PUSH_BEFORE, ((_RECORD, 0), None))
        test.add((Op2.PRED_SETNE, c, "x", (test.constant(0, 2, "w"), _ZERO)))
        low, high = test.units[0]
        test.units[0] = (low, high & ~pack(alu.ALU_DWORD1_OP2, write_mask=1) | pack(
            alu.ALU_DWORD1_OP2, update_execute_mask=1, update_pred=1
        ))  # fmt: skip
        clause = _Clause(AluClause.ALU, ((_RECORD, 0), None))
        k = clause.constant
        clause.add((Op2.MUL_IEEE, c, "x", (_r(0, "z"), k(0, 0, "x"))))
        clause.add((Op2.MUL_IEEE, c, "x", (_r(c, "x"), k(0, 0, "y"))))
        clause.add((Op2.MUL_IEEE, c, "x", (_r(c, "x"), _r(b, "z"))))
        pairs = (("x", "y"), ("y", "z"))
        clause.add(*((Op2.MUL_IEEE, d, to, (_r(c, "x"), k(0, 3, of))) for to, of in pairs))
        for row, weight in ((4, "z"), (5, "w")):
            clause.add(*((Op3.MULADD_IEEE, d, to, (_r(a, weight), k(0, row, of), _r(d, to))) for to, of in pairs))
        clause.add((Op2.MOV, a, "z", (_r(d, "x"),)), (Op2.MOV, a, "w", (_r(d, "y"),)))
        if linear:
            clause.add(*((Op2.MUL_IEEE, d, to, (_r(d, to), k(0, 6, of))) for to, of in pairs))
            clause.add(*((Op2.MUL_IEEE, a, to, (_r(d, to), _r(b, "x"))) for to in "xy"))
        return [test, _Jump(2), clause, _Pop()]

    def interpolated(self, register: int, each: PixelInput, parameter: int) -> list[_Step]:
        line = parameter // KCACHE_LINE_ROWS
        weights = "xy" if each.linear else "zw"
        steps: list[_Step] = []
        for bank, to in ((2, self.c), (3, self.d)):
            clause = _Clause(AluClause.ALU, ((1, line), (bank, line)))
            for pair in ("xy", "zw"):
                k = clause.constant
                clause.add(*((Op2.ADD, to, c, (k(1, parameter, c), -k(0, parameter, c))) for c in pair))
            steps.append(clause)
        clause.add(*(
            (Op3.MULADD_IEEE, self.c, c, (_r(self.c, c), _r(self.a, weights[0]), clause.constant(0, parameter, c)))
            for c in _CHANNELS
        ))  # fmt: skip
        clause.add(*(
            (Op3.MULADD_IEEE, register, c, (_r(self.d, c), _r(self.a, weights[1]), _r(self.c, c))) for c in _CHANNELS
        ))  # fmt: skip
        return steps


def _instruction(operation: Op2 | Op3, register: int, channel: str, operands: tuple[_Source, ...], last: bool) -> Unit:
    fields: dict[str, int] = {}
    for number, operand in enumerate(operands):
        fields |= {
            f"src{number}_sel": operand.select, f"src{number}_chan": _CHANNELS.index(operand.channel),
            f"src{number}_neg": int(operand.negate),
        }  # fmt: skip
    target = {"alu_inst": operation.value, "dst_gpr": register, "dst_chan": _CHANNELS.index(channel)}
    in_low = {name: value for name, value in fields.items() if name[3] in "01"}
    in_high = {name: value for name, value in fields.items() if name[3] == "2"}
    low = pack(alu.ALU_DWORD0, last=int(last), **in_low)
    if isinstance(operation, Op3):
        return low, pack(alu.ALU_DWORD1_OP3, **target, **in_high)
    return low, pack(alu.ALU_DWORD1_OP2, write_mask=1, **target)


def _laid_out(steps: Sequence[_Step], at: int, target: int) -> tuple[Unit, ...]:
    """CF instructions, and after them the clauses that they start."""
    clause_at = at + len(steps) + 1
    body: list[Unit] = []
    flow: list[Unit] = []
    for number, step in enumerate(steps):
        if isinstance(step, _Clause):
            flow.append(_alu(step, clause_at + len(body)))
            body += step.units
        elif isinstance(step, _Jump):
            flow.append(_flow(CfOperation.JUMP, at + number + 1 + step.skips, pop_count=1))
        elif isinstance(step, _Pop):
            flow.append(_flow(CfOperation.POP, 0, pop_count=1))
        else:
            flow.append(_depth(step))
    flow.append(_flow(CfOperation.JUMP, target, cond=Condition.FALSE.value))
    return (*flow, *body)


def _alu(clause: _Clause, address: int) -> Unit:
    locks: dict[str, int] = {}
    for number, locked in enumerate(clause.sets):
        if locked is not None:
            locks |= {
                f"kcache_bank{number}": locked[0], f"kcache_addr{number}": locked[1],
                f"kcache_mode{number}": KcacheMode.LOCK_1.value,
            }  # fmt: skip
    in_low = {name: value for name, value in locks.items() if "bank" in name or name == "kcache_mode0"}
    in_high = {name: value for name, value in locks.items() if name not in in_low}
    return (
        pack(control_flow.CF_ALU_DWORD0, addr=address, **in_low),
        pack(control_flow.CF_ALU_DWORD1, count=len(clause.units) - 1, cf_inst=clause.kind.value, barrier=1, **in_high),
    )


def _flow(operation: CfOperation, address: int, **fields: int) -> Unit:
    word = pack(control_flow.CF_DWORD1, cf_inst=operation.value, barrier=1, **fields)
    return pack(control_flow.CF_DWORD0, addr=address), word


def _depth(step: _Depth) -> Unit:
    masked = {f"sel_{channel}": ComponentSelect.MASK.value for channel in "yzw"}
    return (
        pack(exports.EXPORT_DWORD0, array_base=COMPUTED_DEPTH, rw_gpr=step.register),
        pack(
            exports.EXPORT_DWORD1_SWIZ, sel_x=ComponentSelect[step.channel.upper()].value,
            cf_inst=ExportOperation.EXPORT.value, barrier=1, **masked,
        ),
    )  # fmt: skip
