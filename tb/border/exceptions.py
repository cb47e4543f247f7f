"""The combinational paths through units at declared borders, and why each of them is there.

A path that is not in this table bounds the clock without a decision. A new one is entered
with its reason; a register in its unit, which takes a cycle, is the other choice.
"""

from ctm.tb.border.allowed import ACCEPTED, CONSTANT, GRANT, RETURNED, Allowed
from ctm.tb.border.draw_exceptions import DRAWS

_FORWARDED = "requests are forwarded in their cycle, as latency of memory is what wavefronts wait for"
_RESPONSE = "all ports together give one response in a cycle"
_PORT = "the address says by which memory port a line goes, and that port grants"
_ORDERED = "writes of a client stay in order over several ports, so the line's port decides about ready"
_COMMAND = "ready says that the command is complete, which depends on which command it is"
_LAUNCHED = "a program starts in the cycle in which its launch is done"

ALLOWED = (
    # Arbitration: combinational by contract, a waiting grant is held.
    Allowed("Arbiter", "inputs__*__valid", "output__valid", GRANT),
    Allowed("Arbiter", "inputs__*__valid", "output__payload", GRANT),
    Allowed("Arbiter", "inputs__*__payload", "output__payload", "the payload of the granted input"),
    Allowed("Arbiter", "inputs__*__valid", "inputs__*__ready", "only the granted input is accepted"),
    Allowed("Arbiter", "output__ready", "inputs__*__ready", ACCEPTED),
    Allowed("SharedClient", "clients__*__request__valid", "shared__request__*", GRANT),
    Allowed("SharedClient", "clients__*__request__payload", "shared__request__payload", "the granted client's payload"),
    Allowed(
        "SharedClient", "clients__*__request__valid", "clients__*__request__ready", "only the granted one is accepted"
    ),
    Allowed("SharedClient", "shared__request__ready", "clients__*__request__ready", ACCEPTED),
    Allowed("SharedClient", "shared__response__payload", "clients__*__response__payload", RETURNED),
    Allowed("SharedClient", "shared__response__valid", "clients__*__response__valid", RETURNED),
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
    Allowed("ReadPorts", "ports__*__request__ready", "client_*__request__ready", ACCEPTED),
    Allowed("ReadPorts", "ports__*__response__*", "client_*__response__*", RETURNED),
    Allowed("WritePorts", "writes__*", "ports__*__request__*", f"a slice is forwarded in its cycle; {_PORT}"),
    Allowed("WritePorts", "ports__*__request__ready", "writes__*__ready", ACCEPTED),
    Allowed("MemoryController", "ports__*__read__response__*", "code__response__*", RETURNED),
    Allowed("ReadPorts", "client_*__request__valid", "client_*__request__ready", "a grant excludes the other clients"),
    Allowed("ReadPorts", "client_*__request__payload", "client_*__request__ready", _PORT),
    Allowed("WritePorts", "writes__*__valid", "writes__*__ready", "a grant excludes the other clients"),
    Allowed("WritePorts", "writes__*__payload", "writes__*__ready", f"{_PORT}; {_ORDERED}"),
    Allowed("ReorderBuffer", "client_*__request__valid", "requests__*__valid", _FORWARDED),
    Allowed("ReorderBuffer", "client_*__request__payload", "requests__*__payload", _FORWARDED),
    Allowed("ReorderBuffer", "requests__*__ready", "client_*__request__ready", ACCEPTED),
    Allowed("LineAssembly", "client__request__valid", "lines__request__valid", _FORWARDED),
    Allowed("LineAssembly", "client__request__payload", "lines__request__payload", _FORWARDED),
    Allowed("LineAssembly", "lines__request__ready", "client__request__ready", ACCEPTED),
    Allowed("ConstantReader", "client__request__valid", "lines__request__valid", _FORWARDED),
    Allowed("ConstantReader", "client__request__payload", "lines__request__payload", "the bank's base is added"),
    Allowed("ConstantReader", "lines__request__ready", "client__request__ready", ACCEPTED),
    Allowed("ConstantReader", "lines__response__valid", "client__response__valid", RETURNED),
    Allowed(
        "ConstantReader", "lines__response__payload", "client__response__payload", "a beat of the line it waits with"
    ),
    Allowed("ConstantReader", "client__response__ready", "lines__response__ready", "a line leaves with its last beat"),
    Allowed("CodeReader", "cores__*__request__valid", "lines__request__valid", _FORWARDED),
    Allowed("CodeReader", "cores__*__request__payload", "lines__request__payload", _FORWARDED),
    Allowed("CodeReader", "lines__request__ready", "cores__*__request__ready", ACCEPTED),
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
            ("blending__adds", "*", CONSTANT),
            ("output__valid", "blending__taken", "it counts outputs in the cycle in which they are taken"),
            ("uncached__done__ready", "blending__written", "uncached writes leave one queue, in order"),
        )
    ),
    Allowed("Outputs", "uncached_written__valid", "blending__written", "the write response of sums is their end"),
    Allowed("Registers", "command__*", "command__ready", _COMMAND),
    *(
        Allowed("Registers", "command__*", output, "a command reaches its cache in its cycle")
        for output in ("*_cache__invalidate", "*_flush__flush")
    ),
    Allowed(
        "Registers", "*_cache__idle", "*_cache__invalidate", "a cache is invalidated in the cycle in which it is idle"
    ),
    Allowed("Registers", "*_cache__idle", "command__ready", _COMMAND),
    Allowed("Registers", "*_flush__flushed", "command__ready", _COMMAND),
    Allowed("WriteBacks", "eviction__line", "eviction__evicting", "an access waits in its cycle for its line's write"),
    *(
        Allowed("WriteBacks", given, output, "a slice is read in a cycle in which that is free and the last one leaves")
        for given in ("line_write__ready", "rows__free")
        for output in ("rows__cleans", "rows__reads")
    ),
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
    Allowed("ConditionalUnit", "target__writes_enabled", "cache__change", CONSTANT),
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
    Allowed("WavefrontTester", "client__request__ready", "domain_wavefront__ready", ACCEPTED),
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
    *DRAWS,
    # Others.
    Allowed("ProgramRun", "array__idle", "control__ended", "a program has ended when the array is idle"),
    *(
        Allowed(unit, "memory__lost__valid", "memory__lost__taken", "only one that there is can be reported")
        for unit in ("CommandExecutor", "CommandProcessor")
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
    Allowed(
        "CommandExecutor", "memory__command__ready", "launcher__invalidate", "the command is complete in this cycle"
    ),
    Allowed("CommandExecutor", "run__failed", "performance__restore", "the run is judged in one cycle"),
    Allowed(
        "CommandExecutor", "host__buffer__*", "buffers__begin", "a buffer begins in the cycle in which it is taken"
    ),
    *(
        Allowed(
            "CommandExecutor", given, "settings__commands", "settings are set, kept and restored with their command"
        )
        for given in ("launcher__done", "launcher__status", "memory__command__ready", "run__failed")
    ),
    *(
        Allowed("CommandExecutor", "settings__is_empty", output, "of an empty domain nothing is launched")
        for output in ("launcher__launch", "performance__*", "settings__commands")
    ),
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
    # Inside all cores: the ends of wavefronts.
    *(
        Allowed("OutputRegisters", context, written, "combinational by contract: a context is read")
        for context, written in (
            ("sent__next_context", "sent__written"),
            ("tested__context", "tested__written"),
        )
    ),
    *(
        Allowed("Retirement", given, output, "words are read in the cycle before they are sent, and sent as they come")
        for given, output in (
            ("output__ready", "outputs__*"),
            ("outputs__words", "output__payload"),
        )
    ),
    Allowed("Retirement", "conditional__values", "tester__request__payload", "values are tested as they come"),
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
    *(
        Allowed(unit, "code__found", "issued__*", "a register of the core follows before it is counted")
        for unit in ("FetchSequencer", "FetchUnit", "FlowUnit")
    ),
    Allowed(
        "FetchUnit",
        "registers__in_flight",
        "registers__read__valid",
        "a read of what was fetched follows the last write by one cycle",
    ),
    Allowed("FetchReturn", "direct__*", "write__*", "a write without a request is given while no response is"),
    Allowed("PassSender", "extent", "passes__*", "it is a register of the executor"),
    *(
        Allowed(unit, f"passes__{given}", f"passes__{output}", "a request has its entry in its cycle, or waits for one")
        for unit in ("FetchExecutor", "PassSender")
        for given, output in (
            ("entry", "record"),
            ("entry", "request__payload"),
            ("full", "record"),
            ("full", "request__valid"),
            ("request__ready", "record"),
        )
    ),
    *(
        Allowed(unit, "start__share__valid", "start__share__ready", "it is ready in the cycle of the last row")
        for unit in ("FetchExecutor", "FetchUnit")
    ),
    # Inside R700 cores: wavefronts and registers.
    *(
        Allowed("FlowUnit", f"{given}__valid", f"{output}__ready", "one wavefront is taken, by a fixed priority")
        for given in ("alu_outcome", "fetch_outcome", "start")
        for output in ("alu_outcome", "fetch_outcome", "start")
    ),
    *(
        Allowed(
            unit, "registers__others", "registers__writes", "writes of other units pass in the cycles that are free"
        )
        for unit in ("AluUnit", "Pipeline")
    ),
    *(
        Allowed("AluUnit", f"constants__{given}", "issued__valid", "for an observer alone")
        for given in ("error", "loaded")
    ),
    *(
        Allowed(unit, f"constants__{given}", f"constants__{output}", "a group is decoded in the cycle of its issue")
        for unit in ("GroupDecode", "PixelDecode")
        for given, output in (("error", "is_error"), ("loaded", "is_error"), ("loaded", "missing"))
    ),
    Allowed("Pipeline", "end__gates", "registers__writes", "results are written in the cycle in which they come"),
    Allowed("GroupEffects", "before", "after", "combinational by contract: masks before a group give those after it"),
    *(
        Allowed("OtherWrites", given, f"{output}__ready", "one write is taken, by a fixed priority")
        for given in ("clear__valid", "fetched__*", "r0__*")
        for output in ("fetched", "r0")
    ),
    Allowed("WavefrontEnd", "end__*", "fault__*", "a wavefront's fault is reported in the cycle of its end"),
    Allowed("WriteAssembler", "write__*", "write__ready", "a pass of another register waits until this one is written"),
)
