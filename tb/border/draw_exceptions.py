"""The paths through the units of draws; see `exceptions`."""

from ctm.tb.border.allowed import ACCEPTED, CONSTANT, GRANT, RETURNED, Allowed

DRAWS = (
    *(
        Allowed(unit, given, output, CONSTANT)
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
    Allowed("Blender", "passed__ready", "output__ready", ACCEPTED),
    Allowed(
        "DrawRun", "batch__primitive__*", "thread", "words of a thread are those of the first primitive of a queue"
    ),
    Allowed("DrawRun", "batch__primitive__valid", "batch__primitive__ready", "the thread's last word takes it"),
    Allowed(
        "DrawRun", "emitted__primitive__*", "raster__primitive__*", "primitives come from a queue and go to a register"
    ),
    Allowed("DrawRun", "raster__primitive__ready", "emitted__primitive__ready", ACCEPTED),
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
    Allowed(
        "DrawRun", "batch__primitive__*", "raster__primitive__*", "primitives come from a queue and go to a register"
    ),
    Allowed("DrawRun", "raster__primitive__ready", "batch__primitive__ready", ACCEPTED),
    Allowed(
        "DrawRun", "rings__most", "batch__primitive__ready", "a run takes as many threads as its ring has space for"
    ),
    Allowed("DrawRun", "rings__most", "thread", "a run takes as many threads as its ring has space for"),
    *(
        Allowed("DrawRun", given, begin, "what waits for the unit begins in the cycle in which that is idle")
        for given, begin in (
            ("emits__idle", "emits__begin"),
            ("grouper__idle", "grouper__begin"),
            ("rings__ready", "grouper__begin"),
        )
    ),
    Allowed("EmitGrouper", "emitted__valid", "control__idle", "what is emitted in this cycle is not kept yet"),
    Allowed("ResultRouter", "reads__*__register", "reads__*__word", "combinational by contract: a register is read"),
    Allowed("Interlock", "strip__*", "strip__ready", "the strip itself says what it conflicts with"),
    Allowed("CommandProcessor", "draw_lines__request__*", "memory__lines__request__*", GRANT),
    Allowed("CommandProcessor", "draw_lines__request__valid", "draw_lines__request__ready", GRANT),
    Allowed("CommandProcessor", "memory__lines__request__ready", "draw_lines__request__ready", ACCEPTED),
    Allowed(
        "CommandProcessor", "draw_lines__response__ready", "memory__lines__response__ready", "it holds no lines itself"
    ),
    Allowed("CommandProcessor", "memory__lines__response__*", "draw_lines__response__*", RETURNED),
    Allowed(
        "MemoryController",
        "processor__command__payload",
        "draw_buffers__vertex_buffer",
        "cores write the buffer with the command",
    ),
    Allowed("Registers", "command__*", "written", "caches write the descriptor with the command"),
    Allowed("Registers", "command__*", "draw_buffers__vertex_buffer", "cores write the buffer with the command"),
    Allowed("DrawPipeline", "filled__stream", "filled__dwords", "combinational by contract"),
)
