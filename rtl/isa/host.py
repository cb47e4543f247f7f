"""Registers of the host interface: an AXI4-Lite subordinate of 4 KiB with 32-bit data.

The manual leaves the device interface to another document; these offsets are fixed here once, for the hardware, the
documentation and the C header.
"""

from dataclasses import dataclass

from amaranth.lib import data

from ctm.rtl.isa.status import BusClient, Status

REGISTER_SPACE = 4096
QUEUE_DEPTH = 8
"""Least number of command buffers that the queue holds."""
VERSION = 1
"""What VERSION reads."""
IDENTITY = 0x43544D31
"""What ID reads: 'CTM1'."""


@dataclass(frozen=True, kw_only=True)
class Register:
    """One 32-bit register. `access` is ro, rw, wo or w1c (write 1 to clear)."""

    offset: int
    name: str
    access: str
    layout: data.StructLayout
    text: str


_WORD = data.StructLayout({"value": 32})
_PAIR = data.StructLayout({"i": 16, "j": 16})

REGISTERS = (
    Register(offset=0x000, name="ID", access="ro", layout=_WORD, text="identity of the machine, 'CTM1'"),
    Register(offset=0x004, name="VERSION", access="ro", layout=_WORD, text="version of the register map"),
    Register(
        offset=0x008,
        name="CONFIG",
        access="ro",
        layout=data.StructLayout({"cores": 8, "lanes": 8, "threads": 8, "queue_depth": 8}),
        text="the configuration that was built",
    ),
    Register(
        offset=0x010,
        name="CONTROL",
        access="rw",
        layout=data.StructLayout({"reset": 1, "interrupt_enable": 1, "clear_error": 1, "reserved": 29}),
        text="soft reset, interrupt enable, clear error; reset and clear_error read 0",
    ),
    Register(
        offset=0x014,
        name="STATUS",
        access="ro",
        layout=data.StructLayout(
            {"idle": 1, "error": 1, "queue_full": 1, "push_refused": 1, "reserved": 4, "code": Status, "unused": 20}
        ),
        text="idle, error pending, queue full, a push was rejected since the last clear_error, and the error's code",
    ),
    Register(
        offset=0x018,
        name="INTERRUPT",
        access="w1c",
        layout=data.StructLayout({"consumed": 1, "error": 1, "reserved": 30}),
        text="a buffer was consumed; an error was raised",
    ),
    Register(offset=0x020, name="QUEUE_ADDRESS", access="rw", layout=_WORD, text="byte address of a command buffer"),
    Register(offset=0x024, name="QUEUE_DWORDS", access="rw", layout=_WORD, text="its size in 32-bit words"),
    Register(offset=0x028, name="QUEUE_PUSH", access="wo", layout=_WORD, text="a write pushes the buffer"),
    Register(
        offset=0x02C, name="LAST_SUBMITTED", access="ro", layout=_WORD, text="id of the newest buffer, 0 at first"
    ),
    Register(offset=0x030, name="LAST_CONSUMED", access="ro", layout=_WORD, text="id of the newest consumed buffer"),
    Register(offset=0x040, name="ERROR_ADDRESS", access="ro", layout=_WORD, text="address of the word or access"),
    Register(offset=0x044, name="ERROR_WORD", access="ro", layout=_WORD, text="the word itself"),
    Register(
        offset=0x048,
        name="ERROR_CLIENT",
        access="ro",
        layout=data.StructLayout({"client": BusClient, "reserved": 28}),
        text="client of a bus error",
    ),
    Register(offset=0x04C, name="FAULT_PC", access="ro", layout=_WORD, text="PC of a program's fault"),
    Register(offset=0x050, name="FAULT_IJ", access="ro", layout=_PAIR, text="(i, j) of the wavefront's lane 0"),
    Register(
        offset=0x054,
        name="WATCHDOG",
        access="rw",
        layout=_WORD,
        text="instructions that a wavefront may execute, 0 = any number",
    ),
)
"""The registers of control and errors; the counters of the machine follow from COUNTERS_OFFSET on."""

COUNTERS_OFFSET = 0x100

COUNTERS = {
    "BUSY": "cycles in which a command buffer is executed",
    "ACTIVE": "cycles in which a wavefront is resident in the array",
    "GROUPS": "wavefronts dispatched to the array",
    "PROCESSORS": "pixels of domains that were dispatched or failed their test",
    "ISSUED_ALU": "ALU and OUTPUT instructions issued, one for each wavefront",
    "ISSUED_TEX": "texture instructions issued",
    "ISSUED_FC": "flow-control instructions issued",
    "LANES_ALU": "lanes that are active before each ALU and OUTPUT instruction, covered or not",
    "LANES_TEX": "the same of texture instructions",
    "LANES_FC": "the same of flow-control instructions",
    "INPUT_HITS": "accesses that hit the first level of the input cache",
    "INPUT_MISSES": "accesses that missed it",
    "SHARED_HITS": "lines that hit the second level",
    "SHARED_MISSES": "lines that missed it",
    "CONDITIONAL_HITS": "tests that hit the conditional buffer's cache",
    "CONDITIONAL_MISSES": "tests that missed it",
    "OUTPUT_LINES": "lines evicted from the output cache",
    "LOCAL_READ_BEATS": "beats read from the local memory ports",
    "LOCAL_WRITE_BEATS": "beats written to the local memory ports",
    "SYSTEM_READ_BEATS": "beats read from the system memory port",
    "SYSTEM_WRITE_BEATS": "beats written to the system memory port",
    "STALL_LOOKUPS": "cycles in which a core with wavefronts issues no ALU instruction: one waits for its fetches",
    "STALL_LOADING": "the same: one waits for instructions or constants",
    "STALL_REQUESTS": "the same: one waits for space towards memory",
    "STALL_LATENCY": "the same: all wait for their last instruction, or issue others",
    "STALL_ENDS": "the same: wavefronts only start or end",
}
"""Counters of 32 bits, which wrap; four bytes each, in this order, from COUNTERS_OFFSET on. A reset makes them 0."""

DRAW_COUNTERS_OFFSET = 0x200

DRAW_COUNTERS = {
    "DRAW_VERTICES": "vertices for which the vertex program was run",
    "DRAW_EMITTED": "emitted vertices for which the copy program was run",
    "DRAW_PRIMITIVES": "primitives that were drawn: taken by the clipper",
    "DRAW_DROPPED": "primitives that the clipper dropped, because nothing of them can be seen",
    "DRAW_CLIPPED": "triangles that a plane cut",
    "DRAW_PIECES": "points, and triangles after clipping, that set-up takes",
    "DRAW_CULLED": "those that set-up dropped: culled, without an area, or outside of the domain",
    "DRAW_STRIPS": "wavefronts of pixels",
    "DRAW_QUADS": "quads of these with a covered pixel",
    "DRAW_PIXELS": "pixels that were covered",
    "DRAW_CLOCKS_VERTICES": "cycles of draws before pixels: vertices are assembled, and their programs run",
    "DRAW_CLOCKS_PIXELS": "cycles of draws in which primitives become pixels",
    "DRAW_WAIT_ORDER": "cycles of these in which a strip waits for an earlier one with a pixel of its own",
    "DRAW_WAIT_RASTER": "cycles of these without a strip: clipper, set-up and strip walker work",
}
"""Counters of draws, likewise, from DRAW_COUNTERS_OFFSET on, of hardware that draws; on other hardware they read 0."""
