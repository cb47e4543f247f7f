"""The combinational paths through units at declared borders, and why each of them is there.

A path that is not in this table bounds the clock without a decision. A new one is entered
with its reason; a register in its unit, which takes a cycle, is the other choice.
"""

from dataclasses import dataclass
from fnmatch import fnmatchcase

from ctm.tb.border.units import Pair


@dataclass(frozen=True)
class Allowed:
    """Pairs of ports of a unit between which there may be a path; `*` in a port's name stands for anything.

    `unit` is the name of its class, `reason` what the path is for.
    """

    unit: str
    input: str
    output: str
    reason: str

    def covers(self, pair: Pair) -> bool:
        """Whether a pair is one of these."""
        return pair.unit == self.unit and fnmatchcase(pair.input, self.input) and fnmatchcase(pair.output, self.output)


_GRANT = "the grant follows from the requests of this cycle"
_ACCEPTED = "a granted request is accepted in the cycle in which the other side accepts it"
_FORWARDED = "requests are forwarded in their cycle, as latency of memory is what wavefronts wait for"
_RETURNED = "responses are returned in their cycle, for the same reason"
_RESPONSE = "all ports together give one response in a cycle"
_PORT = "the address says by which memory port a line goes, and that port grants"
_ORDERED = "writes of a client stay in order over several ports, so the line's port decides about ready"
_CONSTANT = "it is constant while the unit works"
_COMMAND = "ready says that the command is complete, which depends on which command it is"
_LAUNCHED = "a program starts in the cycle in which its launch is done"

ALLOWED = (
    # Arbitration: combinational by contract, a waiting grant is held.
    Allowed("Arbiter", "inputs__*__valid", "output__valid", _GRANT),
    Allowed("Arbiter", "inputs__*__valid", "output__payload", _GRANT),
    Allowed("Arbiter", "inputs__*__payload", "output__payload", "the payload of the granted input"),
    Allowed("Arbiter", "inputs__*__valid", "inputs__*__ready", "only the granted input is accepted"),
    Allowed("Arbiter", "output__ready", "inputs__*__ready", _ACCEPTED),
    Allowed("SharedClient", "clients__*__request__valid", "shared__request__*", _GRANT),
    Allowed("SharedClient", "clients__*__request__payload", "shared__request__payload", "the granted client's payload"),
    Allowed(
        "SharedClient", "clients__*__request__valid", "clients__*__request__ready", "only the granted one is accepted"
    ),
    Allowed("SharedClient", "shared__request__ready", "clients__*__request__ready", _ACCEPTED),
    Allowed("SharedClient", "shared__response__payload", "clients__*__response__payload", _RETURNED),
    Allowed("SharedClient", "shared__response__valid", "clients__*__response__valid", _RETURNED),
    Allowed("SharedClient", "clients__*__response__ready", "shared__response__ready", "it holds no responses itself"),
    Allowed("RegisteredHandshake", "input__payload", "output__payload", "a stream holds its payload until it is taken"),
    # Lines between memory ports and their clients.
    *(
        Allowed(unit, f"ports__*__{direction}response__valid", f"ports__*__{direction}response__ready", _RESPONSE)
        for unit, direction in (
            ("ReadPorts", ""),
            ("WritePorts", ""),
            ("MemoryController", "read__"),
            ("MemoryController", "write__"),
        )
    ),
    Allowed("ReadPorts", "client_*__request__*", "ports__*__request__*", f"{_FORWARDED}; {_PORT}"),
    Allowed("ReadPorts", "ports__*__request__ready", "client_*__request__ready", _ACCEPTED),
    Allowed("ReadPorts", "ports__*__response__*", "client_*__response__*", _RETURNED),
    Allowed("WritePorts", "writes__*", "ports__*__request__*", f"a slice is forwarded in its cycle; {_PORT}"),
    Allowed("WritePorts", "ports__*__request__ready", "writes__*__ready", _ACCEPTED),
    Allowed("MemoryController", "ports__*__read__response__*", "code__response__*", _RETURNED),
    Allowed("ReadPorts", "client_*__request__valid", "client_*__request__ready", "a grant excludes the other clients"),
    Allowed("ReadPorts", "client_*__request__payload", "client_*__request__ready", _PORT),
    Allowed("WritePorts", "writes__*__valid", "writes__*__ready", "a grant excludes the other clients"),
    Allowed("WritePorts", "writes__*__payload", "writes__*__ready", f"{_PORT}; {_ORDERED}"),
    Allowed("ReorderBuffer", "client_*__request__valid", "requests__*__valid", _FORWARDED),
    Allowed("ReorderBuffer", "client_*__request__payload", "requests__*__payload", _FORWARDED),
    Allowed("ReorderBuffer", "requests__*__ready", "client_*__request__ready", _ACCEPTED),
    Allowed("LineAssembly", "client__request__valid", "lines__request__valid", _FORWARDED),
    Allowed("LineAssembly", "client__request__payload", "lines__request__payload", _FORWARDED),
    Allowed("LineAssembly", "lines__request__ready", "client__request__ready", _ACCEPTED),
    Allowed("ConstantReader", "client__request__valid", "lines__request__valid", _FORWARDED),
    Allowed("ConstantReader", "client__request__payload", "lines__request__payload", "the bank's base is added"),
    Allowed("ConstantReader", "lines__request__ready", "client__request__ready", _ACCEPTED),
    Allowed("ConstantReader", "lines__response__valid", "client__response__valid", _RETURNED),
    Allowed(
        "ConstantReader", "lines__response__payload", "client__response__payload", "a beat of the line it waits with"
    ),
    Allowed("ConstantReader", "client__response__ready", "lines__response__ready", "a line leaves with its last beat"),
    Allowed("CodeReader", "cores__*__request__valid", "lines__request__valid", _FORWARDED),
    Allowed("CodeReader", "cores__*__request__payload", "lines__request__payload", _FORWARDED),
    Allowed("CodeReader", "lines__request__ready", "cores__*__request__ready", _ACCEPTED),
    Allowed("CounterWriter", "counters__valid", "line__valid", "combinational by contract: it only aligns two words"),
    Allowed(
        "CounterWriter", "counters__payload", "line__payload", "combinational by contract: it only aligns two words"
    ),
    Allowed("CounterWriter", "line__ready", "counters__ready", "combinational by contract: it only aligns two words"),
    # The memory controller, which has several of these in it.
    Allowed("MemoryController", "output__valid", "output__ready", "outputs and uncached writes share one writer"),
    Allowed(
        "MemoryController", "output__valid", "uncached__write__ready", "outputs and uncached writes share one writer"
    ),
    Allowed(
        "MemoryController", "uncached__write__valid", "output__ready", "outputs and uncached writes share one writer"
    ),
    Allowed("MemoryController", "uncached__write__valid", "uncached__write__ready", "the same writer's grant"),
    Allowed(
        "MemoryController",
        "conditional_client__access__payload",
        "conditional_client__access__ready",
        "an access that touches no line needs no space for one that leaves",
    ),
    Allowed(
        "MemoryController", "conditional_client__access__*", "events__conditional_*", "it counts what is looked up"
    ),
    *(
        Allowed(unit, given, output, reason)
        for unit in ("MemoryController", "Outputs")
        for given, output, reason in (
            ("blending__adds", "*", _CONSTANT),
            ("output__valid", "blending__taken", "it counts outputs in the cycle in which they are taken"),
            ("uncached__done__ready", "blending__written", "uncached writes leave one queue, in order"),
        )
    ),
    Allowed("Outputs", "uncached_written__valid", "blending__written", "the write response of sums is their end"),
    Allowed("Registers", "command__*", "command__ready", _COMMAND),
    Allowed("BufferDecoder", "base", "buffer", "combinational by contract: words of a command become a descriptor"),
    Allowed("Outputs", "output__valid", "output__ready", "outputs and uncached writes share one writer"),
    Allowed("Outputs", "output__valid", "uncached__write__ready", "outputs and uncached writes share one writer"),
    Allowed("Outputs", "uncached__write__valid", "output__ready", "outputs and uncached writes share one writer"),
    Allowed("Outputs", "uncached__write__valid", "uncached__write__ready", "the same writer's grant"),
    Allowed("Outputs", "uncached_written__valid", "uncached__done__valid", "the write response of a fence is its end"),
    # The conditional unit and its cache.
    Allowed(
        "ConditionalCache",
        "client__access__payload",
        "client__access__ready",
        "an access that touches no line needs no space for one that leaves",
    ),
    Allowed(
        "ConditionalCache",
        "lines__response__valid",
        "client__result",
        "there is no result while a refill writes the data RAM, as the border says",
    ),
    Allowed(
        "ConditionalCache",
        "lines__response__*",
        "line_written__ready",
        "an error of a refill is reported first, and a write's error waits",
    ),
    Allowed("ConditionalUnit", "target__writes_enabled", "cache__change", _CONSTANT),
    Allowed(
        "ConditionalUnit",
        "cache__result",
        "cache__change",
        "reading, testing and writing a word is one atomic step, as the border says",
    ),
    Allowed(
        "ConditionalUnit",
        "cache__result",
        "cache__ready",
        "the last result of a wavefront is used only if there is space for its response",
    ),
    # Wavefronts on their path from the domain to the array.
    Allowed("WavefrontTester", "domain_wavefront__*", "client__request__*", "a test is requested in the same cycle"),
    Allowed("WavefrontTester", "client__request__ready", "domain_wavefront__ready", _ACCEPTED),
    Allowed(
        "WavefrontTester",
        "client__response__payload",
        "client__response__ready",
        "one of which no lane passed is dropped",
    ),
    *(
        Allowed(unit, "tester__response__payload", "tester__response__ready", "one of which no lane passed is dropped")
        for unit in ("ProgramRun", "CommandProcessor")
    ),
    Allowed("WavefrontSlices", "client__request__*", "unit__request__*", "a slice of the wavefront that is offered"),
    Allowed("WavefrontSlices", "unit__request__ready", "client__request__ready", "it is accepted with its last slice"),
    Allowed(
        "WavefrontSlices", "unit__response__*", "client__response__*", "a response is complete with its last slice"
    ),
    Allowed(
        "WavefrontSlices", "client__response__ready", "unit__response__ready", "it is returned with its last slice"
    ),
    # Draws.
    *(
        Allowed(unit, given, output, _CONSTANT)
        for unit, given, output in (
            ("DrawPipeline", "draw__launching", "blending__adds"),
            ("DrawPipeline", "draw__launching", "state"),
            ("DrawPipeline", "draw__launching", "wavefront__*"),
            ("DrawPipeline", "draw__state", "*"),
            ("DrawPipeline", "programs", "*"),
            ("DrawRun", "program", "*"),
            ("DrawRun", "emitted__used", "vertices__*"),
            ("EmitGrouper", "program", "*"),
            ("VertexGrouper", "state", "batch__vertex"),
            ("VertexGrouper", "state", "space__*"),
            ("DrawRun", "draw__state", "*"),
            ("DrawRun", "batch__used", "vertices__*"),
            ("IndexReader", "buffer", "lines__response__ready"),
            ("VertexGrouper", "state", "lines__response__ready"),
            ("Launch", "draw", "processor__status"),
            ("Launch", "processor__image", "draw_programs"),
            ("Launch", "processor__image", "processor__status"),
        )
    ),
    *(
        Allowed(unit, "space__*", output, "streams say from registers whether a primitive fits")
        for unit, outputs in (
            ("BatchBuilder", ("batch__vertex", "indices__ready", "space__take")),
            ("EmitGrouper", ("batch__vertex", "space__take")),
            ("VertexGrouper", ("batch__vertex", "lines__response__ready", "space__take")),
        )
        for output in outputs
    ),
    Allowed("BatchBuilder", "indices__*", "space__take", "the last corner of a primitive takes its space"),
    Allowed("Blender", "output__*", "passed__*", "what is not added passes"),
    Allowed("Blender", "passed__ready", "output__ready", _ACCEPTED),
    Allowed(
        "DrawRun", "batch__primitive__*", "thread", "words of a thread are those of the first primitive of a queue"
    ),
    Allowed("DrawRun", "batch__primitive__valid", "batch__primitive__ready", "the thread's last word takes it"),
    Allowed("DrawRun", "emitted__primitive__*", "primitive__*", "primitives come from a queue and go to a register"),
    Allowed("DrawRun", "primitive__ready", "emitted__primitive__ready", _ACCEPTED),
    *(
        Allowed(unit, command, output, "the units of draws keep it with the command")
        for unit, command in (("MemoryController", "processor__command__*"), ("Registers", "command__*"))
        for output in ("draw_buffers__ring", "draw_buffers__stream")
    ),
    Allowed("BatchBuilder", "indices__*", "batch__vertex", "a vertex is in the core before its wavefront is offered"),
    Allowed("BatchBuilder", "indices__*", "indices__ready", "the last corner of a primitive, or an end, takes it"),
    *(
        Allowed(unit, "lines__response__valid", "lines__response__ready", "a line is taken with its last index")
        for unit in ("IndexReader", "VertexGrouper", "DrawPipeline")
    ),
    Allowed("IndexReader", "index__ready", "lines__response__ready", "a line is taken with its last index"),
    Allowed("Topology", "primitive__ready", "index__ready", "its output is its only register"),
    Allowed("DrawRun", "batch__primitive__*", "primitive__*", "primitives come from a queue and go to a register"),
    Allowed("DrawRun", "primitive__ready", "batch__primitive__ready", _ACCEPTED),
    Allowed("Interlock", "strip__*", "strip__ready", "the strip itself says what it conflicts with"),
    Allowed("CommandProcessor", "draw_lines__request__*", "memory__lines__request__*", _GRANT),
    Allowed("CommandProcessor", "draw_lines__request__valid", "draw_lines__request__ready", _GRANT),
    Allowed("CommandProcessor", "memory__lines__request__ready", "draw_lines__request__ready", _ACCEPTED),
    Allowed(
        "CommandProcessor", "draw_lines__response__ready", "memory__lines__response__ready", "it holds no lines itself"
    ),
    Allowed("CommandProcessor", "memory__lines__response__*", "draw_lines__response__*", _RETURNED),
    Allowed(
        "MemoryController",
        "processor__command__payload",
        "draw_buffers__vertex_buffer",
        "cores write the buffer with the command",
    ),
    Allowed("Registers", "command__*", "written", "caches write the descriptor with the command"),
    Allowed("Registers", "command__*", "draw_buffers__vertex_buffer", "cores write the buffer with the command"),
    Allowed("DrawPipeline", "filled__stream", "filled__dwords", "combinational by contract"),
    # Others.
    Allowed("ProgramRun", "array__idle", "control__ended", "a program has ended when the array is idle"),
    *(
        Allowed(unit, f"{lost}__valid", f"{lost}__taken", "only one that there is can be reported")
        for unit, lost in (("CommandExecutor", "lost"), ("CommandProcessor", "memory__lost"))
    ),
    Allowed("CommandProcessor", "launch__status", "draw__start", _LAUNCHED),
    Allowed(
        "Array", "wavefront__valid", "credits__*__taken", "a wavefront takes its credit in the cycle in which it comes"
    ),
    Allowed("Array", "uncached__done__payload", "uncached__done__ready", "it says which core's fence is complete"),
    Allowed(
        "HostInterface",
        "processor__error__valid",
        "processor__buffer__valid",
        "an error holds further command buffers in its own cycle",
    ),
    Allowed("ImageWindow", "lines__response__*", "client__done", "a line with an error ends the extent"),
    Allowed("ImageWindow", "lines__response__*", "client__status", "a line with an error ends the extent"),
    # The command executor and what it commands.
    Allowed("CommandExecutor", "launcher__done", "performance__keep", _LAUNCHED),
    Allowed("CommandExecutor", "launcher__done", "run__start", _LAUNCHED),
    Allowed("CommandExecutor", "launcher__status", "performance__keep", _LAUNCHED),
    Allowed("CommandExecutor", "launcher__status", "run__start", _LAUNCHED),
    Allowed("CommandExecutor", "mc_command__ready", "launcher__invalidate", "the command is complete in this cycle"),
    Allowed("CommandExecutor", "run__failed", "performance__restore", "the run is judged in one cycle"),
    # Inside cores: the scheduler, its ports, and constants.
    *(
        Allowed("Scheduler", given, output, "the oldest wavefront is chosen that needs nothing which is not there")
        for given, output in (
            ("available__*", "ports__*__issue"),
            ("outstanding__*", "ports__*__issue"),
            ("ended__ready", "ended__wavefront"),
            ("outstanding__drained", "ended__wavefront"),
            ("summaries__can_fetch", "summaries__fetch"),
        )
    ),
    *(
        Allowed("Scheduler", given, "vacating__vacates", "the instruction takes along in this cycle whether it vacates")
        for given in ("vacating__ending", "outstanding__drained")
    ),
    *(
        Allowed(unit, "scheduler__issue", "instruction__address", "an instruction is read in the cycle of its issue")
        for unit in ("AluPort", "FlowPort", "TexturePort")
    ),
    *(
        Allowed("AluPort", given, "sources__addresses", "operands are addressed in the cycle in which it is read")
        for given in ("instruction__entry", "wavefront__state")
    ),
    *(
        Allowed(unit, given, "constants__miss", "lines that are not loaded are missed, and registered in the loader")
        for unit, given in (
            ("FlowPort", "constants__*_loaded"),
            ("FlowUnit", "constants__*_loaded"),
            ("FlowPort", "instruction__entry"),
        )
    ),
    *(
        Allowed(
            "ConstantLoader",
            "client__response__*",
            f"{port}__write",
            "a beat is written in the cycle in which it comes",
        )
        for port in ("alu", "flow")
    ),
    # Inside R700 cores: the fetch unit and its finders.
    *(
        Allowed(unit, "walk__start", "walk__valid", "a finder that is not started finds nothing")
        for unit in ("AreaAddresses", "ItemAddresses", "ThreadItems", "VertexAddresses")
    ),
    Allowed("LocalShare", "walk__start", "walk__done", "a write to two banks takes one step, so its first may be last"),
    Allowed("LocalShare", "walk__start", "walk__wanted", "the task of the step says which pixel is read"),
    *(
        Allowed("ConstantFetch", f"port__{given}", output, "a row is read in the cycle in which its line is found")
        for given in ("error", "free", "loaded")
        for output in ("port__miss", "port__row", "walk__done")
    ),
    Allowed("ConstantFetch", "port__words", "walk__element", "combinational by contract: an element is a read's words"),
    *(
        Allowed(unit, f"constants__{given}", "constants__row", "a row is read in the cycle in which its line is found")
        for unit in ("FetchExecutor", "FetchUnit")
        for given in ("error", "free", "loaded")
    ),
    *(Allowed(unit, "code__found", "trace", "for an observer alone") for unit in ("FetchSequencer", "FetchUnit")),
    Allowed(
        "FetchUnit",
        "registers__in_flight",
        "registers__read__valid",
        "a read of what was fetched follows the last write by one cycle",
    ),
    Allowed("FetchReturn", "direct__*", "write__*", "a write without a request is given while no response is"),
    *(
        Allowed("PassSender", "extent", f"{output}__*", "it is a register of the executor")
        for output in ("direct", "request")
    ),
    # Inside R700 cores: wavefronts and registers.
    *(
        Allowed("FlowUnit", f"{given}__valid", f"{output}__ready", "one wavefront is taken, by a fixed priority")
        for given in ("alu_outcome", "fetch_outcome", "start")
        for output in ("alu_outcome", "fetch_outcome", "start")
    ),
    Allowed("GroupEffects", "before", "after", "combinational by contract: masks before a group give those after it"),
    *(
        Allowed("OtherWrites", given, f"{output}__ready", "one write is taken, by a fixed priority")
        for given in ("clear__valid", "fetched__*", "r0__*")
        for output in ("fetched", "r0")
    ),
    Allowed("WavefrontEnd", "end__*", "fault__*", "a wavefront's fault is reported in the cycle of its end"),
    Allowed("WriteAssembler", "write__*", "write__ready", "a pass of another register waits until this one is written"),
)
