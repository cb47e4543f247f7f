"""Decoded R700 instructions: plain records, made once for each address of a program."""

from dataclasses import dataclass, field
from enum import Enum, auto

from ctm.rtl.isa.r700.alu import IndexMode, PredicateSelect
from ctm.rtl.isa.r700.control_flow import AluClause, CfOperation, Condition
from ctm.rtl.isa.r700.exports import ExportOperation
from ctm.rtl.isa.r700.fetch import Multiplex, TextureOperation
from ctm.rtl.isa.r700.operations import Operation


@dataclass(frozen=True)
class Illegal:
    """An instruction that is not executed, and the reason."""

    reason: str


class Bank(Enum):
    """Where an operand comes from."""

    GPR = auto()
    CONSTANT = auto()
    VALUE = auto()
    PREVIOUS = auto()
    PRIMITIVE = auto()
    """A row of the primitive's own constants, which every wavefront of a draw has its own of."""


@dataclass(frozen=True, kw_only=True)
class Operand:
    """An operand of an ALU instruction.

    `number` is that of a register, the row of a constant, the slot of a previous result, or the value's bits.
    """

    bank: Bank
    number: int
    channel: int = 0
    index: IndexMode | None = None
    """What a relative number is relative to."""
    absolute: bool = False
    negated: bool = False
    kcache_bank: int = 0
    """Of a primitive's row, the bank that it is in."""


@dataclass(frozen=True, kw_only=True)
class Slot:
    """One instruction of a group, in slot `position` (0..3: x to w, 4: t)."""

    position: int
    operation: Operation
    operands: tuple[Operand, ...]
    register: int
    channel: int
    index: IndexMode | None
    """What a relative destination is relative to."""
    writes: bool
    omod: int
    clamp: bool
    predicate: PredicateSelect
    updates_execute_mask: bool
    updates_predicate: bool


class Form(Enum):
    """What the operands of neighbouring slots are together."""

    SAME = auto()
    """One and the same."""
    ROW = auto()
    """Neighbouring channels of one register or constant, or results of neighbouring slots."""
    EACH = auto()
    """Anything else."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """Neighbouring slots that do the same to neighbouring channels of a register, and are computed at once.

    `operands` are, for each operand of the operation, those of the slots and what they are together.
    """

    slots: tuple[Slot, ...]
    operands: tuple[tuple[Form, tuple[Operand, ...]], ...]


@dataclass(frozen=True, kw_only=True)
class Group:
    """Instructions that are executed together: slot by slot, and as the runs that they are executed in.

    `stale` are the clause temporaries that are read although nothing in the clause has written them.
    """

    slots: tuple[Slot, ...]
    runs: tuple[Run, ...]
    stale: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Fetch:
    """What the instructions of a fetch clause have in common.

    `selects` are what the components of the destination become, by `ComponentSelect`'s codes. Relative registers are
    relative to aL.
    """

    source: int
    source_relative: bool
    destination: int
    destination_relative: bool
    selects: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Texture(Fetch):
    """An instruction that looks up an input, or that compares the lanes of a quad.

    `coordinates` are the selects of x and y, z and w; `offsets` those of x and y in half texels.
    """

    operation: TextureOperation
    input: int
    coordinates: tuple[int, ...]
    offsets: tuple[int, int]
    normalised: tuple[bool, bool]


@dataclass(frozen=True, kw_only=True)
class Vertex(Fetch):
    """A fetch of an element by its index: of constants (`input` None), or of an input as a linear array.

    `channels` of an element are read; of those that are missing the last is `one`.
    """

    input: int | None
    component: int
    offset: int
    channels: int
    one: int


@dataclass(frozen=True, kw_only=True)
class MemoryRead(Fetch):
    """RD_SCATTER or, with `scratch`, RD_SCRATCH. `component` holds the index; None: there is no index."""

    scratch: bool
    component: int | None
    base: int
    size: int
    element: int
    """Dwords of an element."""
    burst: int
    """Registers that are read."""


@dataclass(frozen=True, kw_only=True)
class ShareWrite:
    """LOCAL_DS_WRITE: `burst` registers to the pixel's own dwords; `selects` as in `Fetch`."""

    source: int
    selects: tuple[int, ...]
    index: int
    stride: int
    burst: int


@dataclass(frozen=True, kw_only=True)
class ShareRead(Fetch):
    """LOCAL_DS_READ; `bank` and `dword` are the components of the source that hold the address."""

    bank: int
    dword: int
    offset: int
    broadcast: bool
    mux: Multiplex
    burst: int


class Numeric(Enum):
    """What the channels of an element in a vertex buffer become."""

    NORMALISED = 0
    INTEGER = 1
    SCALED = 2
    FLOAT = 3


@dataclass(frozen=True, kw_only=True)
class VertexFormat:
    """An element of a vertex buffer: channels of `bits` each, channel 0 at the lowest address."""

    channels: int
    bits: int
    numeric: Numeric
    signed: bool = False

    @property
    def channel_bytes(self) -> int:
        """Bytes of a channel; an element begins at a multiple of as many."""
        return self.bits // 8

    @property
    def element_bytes(self) -> int:
        """Bytes of an element."""
        return self.channels * self.channel_bytes


@dataclass(frozen=True, kw_only=True)
class BufferFetch(Fetch):
    """A fetch of an element from a vertex buffer, or with `buffer` None from the ring that the program reads.

    The byte is index * stride + `offset`; the index is in `component` of the source, plus the first instance with
    `by_instance`.
    """

    buffer: int | None
    component: int
    offset: int
    by_instance: bool
    element: VertexFormat


FetchInstruction = Texture | Vertex | BufferFetch | MemoryRead | ShareWrite | ShareRead


@dataclass(frozen=True, kw_only=True)
class Clause:
    """A decoded clause: its groups or fetch instructions up to the first that is illegal, and the address of each."""

    instructions: tuple[Group | FetchInstruction | Illegal, ...]
    addresses: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Flow:
    """A CF instruction that is neither an ALU clause nor an export."""

    operation: CfOperation
    target: int
    pop_count: int = 0
    constant: int = 0
    condition: Condition = Condition.ACTIVE
    call_count: int = 0
    units: int = 0
    """Units of the fetch clause that it starts."""
    ends: bool = False
    valid_pixels: bool = False
    whole_quads: bool = False


@dataclass(frozen=True, kw_only=True)
class Kcache:
    """What a clause locked of one set: the first row and how many; none if `problem` says why not."""

    first: int = 0
    rows: int = 0
    problem: str = "nothing is locked"
    bank: int = 0


@dataclass(frozen=True, kw_only=True)
class AluWord:
    """A CF instruction that starts an ALU clause."""

    operation: AluClause
    target: int
    units: int
    kcache: tuple[Kcache, Kcache]
    whole_quads: bool
    ends: bool = field(default=False, init=False)
    """No ALU clause ends a program."""


POSITION_TARGET, PARAMETER_TARGET = 0x40, 0x80
"""Where the outputs of programs that are run for vertices begin: position and what is beside it, and parameters."""


@dataclass(frozen=True, kw_only=True)
class Export:
    """An export of `burst` registers from `register` on.

    Of an EXPORT `base` is the first target and `selects` what its components are; the targets of a vertex are counted
    from POSITION_TARGET and PARAMETER_TARGET. Of a memory write `mask` are the components that are written and
    `element` an element's dwords.
    """

    operation: ExportOperation
    base: int
    register: int
    relative: bool
    burst: int
    ends: bool
    valid_pixels: bool
    selects: tuple[int, ...] = ()
    index_register: int | None = None
    acknowledged: bool = False
    element: int = 1
    size: int = 0
    mask: tuple[int, ...] = ()


Word = Flow | AluWord | Export
