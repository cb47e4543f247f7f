"""The frame of a compiled program: a loop over vectors of wavefronts, what each wavefront begins with, and how it ends.

An instruction set's translation fills it: it begins where a `Kernel`'s builder stands and goes to `finish` with every
wavefront of the vector ended, to `give_back` if a wavefront needs the golden model, or to `exceeded` if
`limit_is_exceeded`. Nothing of a vector is visible before that, but uncached writes: its outputs and counts are stored
at its end.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from llvmlite import ir

from ctm.rtl.isa.limits import BYTE_BITS, QUAD, WORD_BITS
from ctm.sim.engines.fast.parameters import UNITS, BufferSlot, Slot, buffer_slot
from ctm.sim.engines.fast.vector.address import BufferParameters, Form
from ctm.sim.engines.fast.vector.lanes import BYTE, INT, LONG, POINTER, Lanes, Value
from ctm.sim.engines.fast.work import TEXT

RUN = "run"
"""Name of the compiled function: it takes a pointer to the parameters."""

_DENORMALS_OFF = 0x8040
"""MXCSR: flush results to zero, take denormal operands for zeros."""


@dataclass(frozen=True, kw_only=True)
class Frame:
    """What the frame is compiled for.

    `width` lanes in a vector hold whole wavefronts of `wavefront_lanes` pixels, with `rows` all in one row of the
    domain, with `linear` numbered one after the other in the domain's only row; `fused` and `register` are the host's.
    With `is_tested` a byte for each pixel says whether it is covered. `buffers` are those that the program uses, by
    number.
    """

    width: int
    wavefront_lanes: int
    rows: bool
    fused: bool
    register: int
    is_tested: bool
    buffers: Mapping[int, Form]
    linear: bool = False

    @property
    def wavefronts(self) -> int:
        """Wavefronts of a vector."""
        return self.width // self.wavefront_lanes


class Counts:
    """What a vector counts while it runs: instructions are noted as they are translated, and added at block ends."""

    def __init__(self, lanes: Lanes) -> None:
        self._lanes = lanes
        self._noted: dict[int, int] = {}
        self._issued = [lanes.builder.alloca(LONG) for _ in range(UNITS)]
        self._active_issued, self._spent, self._present, self._active, self._wavefronts = (
            lanes.builder.alloca(LONG) for _ in range(5)
        )

    def begin(self, here: Value, wavefront_lanes: int) -> None:
        """A vector starts with the wavefronts of `here`."""
        builder, zero = self._lanes.builder, ir.Constant(LONG, 0)
        for pointer in (*self._issued, self._active_issued, self._spent):
            builder.store(zero, pointer)
        self.change(here, here, wavefront_lanes)
        builder.store(builder.load(self._present, typ=LONG), self._wavefronts)

    def change(self, here: Value, active: Value, wavefront_lanes: int) -> None:
        """From here on the wavefronts of `here` execute, with the lanes of `active`, which has no others."""
        builder = self._lanes.builder
        shift = ir.Constant(LONG, wavefront_lanes.bit_length() - 1)
        builder.store(builder.lshr(self._lanes.count(here), shift), self._present)
        builder.store(self._lanes.count(active), self._active)

    def note(self, unit: int) -> None:
        """The wavefronts that are here issue an instruction."""
        self._noted[unit] = self._noted.get(unit, 0) + 1

    def add(self) -> None:
        """Add what was noted; before `here` or `active` changes, and before a block ends."""
        builder, total = self._lanes.builder, sum(self._noted.values())
        if not total:
            return
        for unit, count in self._noted.items():
            self._increase(self._issued[unit], count, self._present)
        self._increase(self._active_issued, total, self._active)
        spent = builder.load(self._spent, typ=LONG)
        builder.store(builder.add(spent, ir.Constant(LONG, total)), self._spent)
        self._noted = {}

    def spent(self) -> Value:
        """Instructions that the vector issued: no wavefront executed more."""
        return self._lanes.builder.load(self._spent, typ=LONG)

    def commit(self, parameters: Value) -> None:
        """Add all to what is given back."""
        self._add_to(parameters, Slot.WAVEFRONTS, self._wavefronts)
        self._add_to(parameters, Slot.LANE_INSTRUCTIONS, self._active_issued)
        for unit, pointer in enumerate(self._issued):
            self._add_to(parameters, Slot.ISSUED + unit, pointer)

    def _increase(self, pointer: Value, count: int, by: Value) -> None:
        builder = self._lanes.builder
        step = builder.mul(builder.load(by, typ=LONG), ir.Constant(LONG, count))
        builder.store(builder.add(builder.load(pointer, typ=LONG), step), pointer)

    def _add_to(self, parameters: Value, slot: int, pointer: Value) -> None:
        builder = self._lanes.builder
        at = builder.gep(parameters, [ir.Constant(INT, slot)], source_etype=LONG)
        builder.store(builder.add(builder.load(at, typ=LONG), builder.load(pointer, typ=LONG)), at)


class Kernel:
    """A function that runs all vectors; `lanes.builder` stands where the translation has to begin.

    `x` and `y` are the pixels' coordinates as words, `covered` their mask, `here` the mask of the wavefronts that
    are issued.
    """

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.module = ir.Module("ctm")
        # `run` sets the mode that all arithmetic needs, so nothing of it may move out of the inner function.
        self.function = ir.Function(self.module, ir.FunctionType(ir.VoidType(), [POINTER]), "kernel")
        self.function.linkage = "internal"
        _set_attributes(self.function, frame.width)
        builder = ir.IRBuilder(self.function.append_basic_block("entry"))
        self.lanes = Lanes(builder, frame.width, fused=frame.fused, register=frame.register)
        self.parameters = self.function.args[0]
        self.buffers = {number: self._buffer(number) for number in frame.buffers}
        self._vectors, self._share = self.parameter(Slot.VECTORS, INT), self.parameter(Slot.SHARE, INT)
        self._taken = self.parameter(Slot.TAKEN, POINTER)
        self._domain = [self.parameter(slot, INT) for slot in (Slot.I0, Slot.J0, Slot.I1, Slot.J1)]
        self._origins = [self.parameter(slot, POINTER) for slot in (Slot.ORIGIN_I, Slot.ORIGIN_J)]
        self._covered = self.parameter(Slot.COVERED, POINTER)
        self._vector, self._end = builder.alloca(INT), builder.alloca(INT)
        self.counts = Counts(self.lanes)
        self.finish, self.give_back, self.exceeded, self._next = (
            self.block(name) for name in ("finish", "give_back", "exceeded", "next")
        )
        self._begin()

    @property
    def vector(self) -> Value:
        """The number of the vector that runs, a 32-bit scalar."""
        return self._number

    def parameter(self, slot: int, kind: Value) -> Value:
        """A parameter; to be read at the function's beginning."""
        at = self.lanes.builder.gep(self.parameters, [ir.Constant(INT, slot)], source_etype=LONG)
        return self.lanes.builder.load(at, typ=kind)

    def limit_is_exceeded(self) -> Value:
        """One bit: whether the vector issued more instructions than it may, or is to stop."""
        return self.lanes.builder.icmp_unsigned(">", self.counts.spent(), self._limit())

    def limit_is_reached(self) -> Value:
        """One bit: whether the vector may issue no more instructions."""
        return self.lanes.builder.icmp_unsigned(">=", self.counts.spent(), self._limit())

    def _limit(self) -> Value:
        builder = self.lanes.builder
        at = builder.gep(self.parameters, [ir.Constant(INT, Slot.LIMIT)], source_etype=LONG)
        # Another thread may set it: LLVM takes any other load out of a loop that stores nothing.
        return builder.load_atomic(at, "monotonic", LONG.width // BYTE_BITS, typ=LONG)

    def block(self, name: str) -> Value:
        """A new basic block."""
        return self.function.append_basic_block(name)

    def go_if(self, bit: Value, block: Value) -> None:
        """Go to a block if `bit` is set, else on."""
        following = self.block("on")
        self.lanes.builder.cbranch(bit, block, following)
        self.lanes.builder.position_at_end(following)

    def end(self) -> None:
        """The vector's outputs are stored: count what it did, and go on with the next one."""
        builder = self.lanes.builder
        self.counts.commit(self.parameters)
        builder.branch(self._next)
        builder.position_at_end(self.exceeded)
        # The next vectors are likely to do the same, and need not try.
        at = builder.gep(self.parameters, [ir.Constant(INT, Slot.LIMIT)], source_etype=LONG)
        builder.store(ir.Constant(LONG, 0), at)
        builder.branch(self.give_back)
        builder.position_at_end(self.give_back)
        self._give_back()
        builder.branch(self._next)

    def text(self) -> str:
        """The finished module."""
        self._add_run()
        return f"{self.module}{TEXT}"

    def _buffer(self, number: int) -> BufferParameters:
        def get(slot: BufferSlot, kind: Value = INT) -> Value:
            return self.parameter(buffer_slot(number, slot), kind)

        return BufferParameters(
            memory=get(BufferSlot.MEMORY, POINTER), base=get(BufferSlot.BASE), stride=get(BufferSlot.STRIDE),
            width_limit=get(BufferSlot.WIDTH_LIMIT), height_limit=get(BufferSlot.HEIGHT_LIMIT),
            scale_x=get(BufferSlot.SCALE_X), scale_y=get(BufferSlot.SCALE_Y),
        )  # fmt: skip

    def _begin(self) -> None:
        """Begin the loop over vectors, of which this thread takes some, and then some more."""
        lanes, builder = self.lanes, self.lanes.builder
        take, head, body, start, done = (self.block(name) for name in ("take", "head", "body", "start", "done"))
        builder.branch(take)
        builder.position_at_end(take)
        first = builder.atomic_rmw("add", self._taken, self._share, "monotonic")
        builder.store(first, self._vector)
        end = builder.add(first, self._share)
        end = builder.select(builder.icmp_unsigned("<", end, self._vectors), end, self._vectors)
        builder.store(end, self._end)
        builder.cbranch(builder.icmp_unsigned("<", first, self._vectors), head, done)
        builder.position_at_end(self._next)
        following = builder.add(builder.load(self._vector, typ=INT), ir.Constant(INT, 1))
        builder.store(following, self._vector)
        builder.branch(head)
        builder.position_at_end(head)
        self._number = builder.load(self._vector, typ=INT)
        builder.cbranch(builder.icmp_unsigned("<", self._number, builder.load(self._end, typ=INT)), body, take)
        builder.position_at_end(done)
        builder.ret_void()
        builder.position_at_end(body)
        self.x, self.y = self._coordinates()
        self.covered = self._coverage()
        self.here = lanes.any_in_each(self.covered, self.frame.wavefront_lanes)
        builder.cbranch(lanes.any(self.here), start, self._next)
        builder.position_at_end(start)
        self.counts.begin(self.here, self.frame.wavefront_lanes)

    def _coordinates(self) -> tuple[Value, Value]:
        lanes, frame = self.lanes, self.frame
        if frame.linear:
            first = lanes.splat(lanes.builder.mul(self._number, ir.Constant(INT, frame.width)))
            return lanes.builder.add(first, lanes.integer_for_each(range(frame.width))), lanes.none
        positions = [lane % frame.wavefront_lanes for lane in range(frame.width)]
        offsets = [2 * (at // QUAD) + (at & 1) for at in positions], [at >> 1 & 1 for at in positions]
        x, y = (
            lanes.builder.add(self._origin(origin), lanes.integer_for_each(offset))
            for origin, offset in zip(self._origins, offsets, strict=True)
        )
        return x, y

    def _origin(self, origins: Value) -> Value:
        """Each wavefront's first coordinate in all its lanes."""
        builder, wavefronts = self.lanes.builder, self.frame.wavefronts
        first = builder.mul(self._number, ir.Constant(INT, wavefronts))
        at = builder.gep(origins, [builder.zext(first, LONG)], source_etype=INT)
        loaded = builder.load(at, typ=ir.VectorType(INT, wavefronts))
        loaded.align = 4
        of_lane = [lane // self.frame.wavefront_lanes for lane in range(self.frame.width)]
        return builder.shuffle_vector(loaded, loaded, self.lanes.integer_for_each(of_lane))

    def _coverage(self) -> Value:
        lanes, builder = self.lanes, self.lanes.builder
        i0, j0, i1, j1 = (lanes.splat(bound) for bound in self._domain)
        inside = builder.and_(builder.icmp_signed(">=", self.x, i0), builder.icmp_signed("<=", self.x, i1))
        inside = builder.and_(inside, builder.icmp_signed(">=", self.y, j0))
        inside = builder.and_(inside, builder.icmp_signed("<=", self.y, j1))
        if self.frame.is_tested:
            first = builder.mul(self._number, ir.Constant(INT, self.frame.width))
            at = builder.gep(self._covered, [builder.zext(first, LONG)], source_etype=BYTE)
            loaded = builder.load(at, typ=ir.VectorType(BYTE, self.frame.width))
            loaded.align = 1
            none = ir.Constant(loaded.type, [0] * self.frame.width)
            inside = builder.and_(inside, builder.icmp_unsigned("!=", loaded, none))
        return lanes.mask(inside)

    def _give_back(self) -> None:
        """Note the vector's number, for the golden model."""
        builder = self.lanes.builder
        numbers = self.parameter(Slot.RETURNED, POINTER)
        at = builder.gep(self.parameters, [ir.Constant(INT, Slot.RETURNED_COUNT)], source_etype=LONG)
        count = builder.load(at, typ=LONG)
        builder.store(self._number, builder.gep(numbers, [count], source_etype=INT))
        builder.store(builder.add(count, ir.Constant(LONG, 1)), at)

    def _add_run(self) -> None:
        """The function that is called: the inner one with the host's denormals off."""
        function = ir.Function(self.module, self.function.function_type, RUN)
        builder = ir.IRBuilder(function.append_basic_block("entry"))
        kept, changed = builder.alloca(INT), builder.alloca(INT)
        kind = ir.FunctionType(ir.VoidType(), [POINTER])
        get, put = (ir.Function(self.module, kind, f"llvm.x86.sse.{name}mxcsr") for name in ("st", "ld"))
        builder.call(get, [kept])
        mode = builder.load(kept, typ=INT)
        builder.store(builder.or_(mode, ir.Constant(INT, _DENORMALS_OFF)), changed)
        builder.call(put, [changed])
        builder.call(self.function, function.args)
        builder.call(put, [kept])
        builder.ret_void()


def _set_attributes(function: Value, width: int) -> None:
    """Attributes that llvmlite has no names for, so its own check is avoided."""
    for text in (
        "noinline", "nounwind", '"denormal-fp-math"="preserve-sign,preserve-sign"',
        f'"prefer-vector-width"="{min(512, max(128, WORD_BITS * width))}"',
    ):  # fmt: skip
        set.add(function.attributes, text)
