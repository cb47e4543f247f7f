"""The note "R700 pipeline" of a loaded image: the programs of a draw beside the pixel program.

Source: docs/draws.md.
"""

from amaranth import Array, Cat, Module, Mux, Signal, Value
from amaranth.lib import data

from ctm.rtl.border.shading import ITEM_BITS, Stage
from ctm.rtl.isa.draws import PrimitiveType, Ring
from ctm.rtl.isa.r700.exports import PARAMETERS
from ctm.rtl.isa.r700.limits import FIRST_CLAUSE_TEMPORARY, STACK_ENTRIES, SUBENTRIES
from ctm.rtl.isa.r700.pipeline import (
    DISTANCES,
    EMITS,
    LARGEST_EMIT,
    PIPELINE_INFORMATION,
    PRESENT,
    RESOURCES,
    VERSION,
    OutputPrimitive,
)

_CONSTANT_BASE_BITS, _BUFFER_BITS = 4, 8
_OF_PIXELS = ("share", "tests", "conditional_from_program", "memory", "scratch", "domain")
"""What programs for threads do not have."""


class PipelineNote:
    """The words of the note, and what is wrong with them. Combinational.

    `is_bad`: they are not allowed; `is_beyond`: items of a ring are larger than the hardware's rings.
    """

    def __init__(self, m: Module, image: data.View, draw: data.View) -> None:
        self._draw = draw
        self._words = words = dict(zip(PIPELINE_INFORMATION, image.pipeline, strict=True))
        self._present = data.View(PRESENT, words["PRESENT"])
        self.distances, self._emits = data.View(DISTANCES, words["DISTANCES"]), data.View(EMITS, words["EMITS"])
        self.is_bad, self.is_beyond = Signal(name="bad_pipeline"), Signal(name="pipeline_beyond")
        absent = [word for name, word in words.items() if name.startswith(("GEOMETRY", "COPY"))]
        reserved = [word for name, word in words.items() if name.startswith("reserved") or name.endswith("RESERVED")]
        present, emits, output = self._present, self._emits, Value.cast(self._emits.primitive)
        geometry = Cat(
            *(self._is_bad_program(image, stage) for stage in ("GEOMETRY", "COPY")),
            (emits.vertices == 0) | (emits.vertices > LARGEST_EMIT),
            words["GSVS_ITEM"] < words["GS_VERTEX_ITEM"] * emits.vertices,
        )
        bad = [
            image.pipelines != 1,
            words["version"] != VERSION,
            ~present.vertex,
            self._is_bad_program(image, "VERTEX"),
            present.fetch & (words["FS_START"] >= image.size),
            ~present.fetch & words["FS_START"].any(),
            (words["PARAMETERS"] == 0) | (words["PARAMETERS"] > PARAMETERS),
            words["PRIMITIVE_NUMBER"] > 1,
            present.reserved.any() | self.distances.reserved.any() | emits.reserved.any(),
            output >= len(OutputPrimitive),
            Cat(reserved).any(),
            Mux(present.geometry, geometry.any(), Cat(absent).any()),
        ]
        items = ("ESGS_ITEM", "GSVS_ITEM", "GS_VERTEX_ITEM")
        are_large = Cat((words[item] >> ITEM_BITS).any() for item in items).any()
        m.d.comb += [self.is_bad.eq(Cat(bad).any()), self.is_beyond.eq(present.geometry & are_large)]

    def _is_bad_program(self, image: data.View, stage: str) -> Value:
        """Whether what the note says of a stage's program is not allowed."""
        resources = data.View(RESOURCES, self._words[f"{stage}_RESOURCES"])
        found = [
            self._words[f"{stage}_START"] >= image.size,
            (resources.gprs == 0) | (resources.gprs > FIRST_CLAUSE_TEMPORARY),
            resources.stack_size > STACK_ENTRIES,
            resources.constant_base >> _CONSTANT_BASE_BITS != 0,
            self._words[f"{stage}_BUFFER"] >> _BUFFER_BITS != 0,
            resources.reserved.any(),
        ]
        return Cat(found).any()

    def connect(self, m: Module, program: data.View, programs: data.View) -> None:
        """Set what a draw's programs have and ask for, and for vertices what differs from the pixel program."""
        words, draw, distances, present = self._words, self._draw, self.distances, self._present
        geometry, emits = programs.geometry, self._emits
        outputs = Array(PrimitiveType[output.name].value for output in OutputPrimitive)
        m.d.comb += [
            geometry.present.eq(present.geometry),
            geometry.vertex_item.eq(words["ESGS_ITEM"]),
            geometry.item.eq(words["GSVS_ITEM"]),
            geometry.emitted_item.eq(words["GS_VERTEX_ITEM"]),
            geometry.most_emitted.eq(emits.vertices),
            Value.cast(geometry.output).eq(outputs[Value.cast(emits.primitive)]),
            program.draw.has_geometry.eq(present.geometry),
            program.draw.streams.eq(draw.streams),
            program.stage.eq(draw.stage),
            program.draw.has_fetch.eq(self._present.fetch),
            program.draw.fetch_start.eq(words["FS_START"]),
            program.draw.first_buffer.eq(words["VERTEX_BUFFER"]),
            program.draw.vectors.eq(Cat(distances.misc, distances.first, distances.second)),
            program.draw.first_instance.eq(draw.first_instance),
            program.draw.instance.eq(draw.instance),
            program.draw.lowest_depth.eq(draw.lowest_depth),
            program.draw.highest_depth.eq(draw.highest_depth),
            programs.clip_distances.eq(distances.clip),
            programs.cull_distances.eq(distances.cull),
            programs.by_primitive.eq(words["PRIMITIVE_NUMBER"] & ~present.geometry),
        ]
        threads = {Stage.VERTICES: "VERTEX", Stage.GEOMETRY: "GEOMETRY", Stage.COPY: "COPY"}
        written = {Stage.VERTICES: (Ring.ES_GS, "ESGS_ITEM"), Stage.GEOMETRY: (Ring.GS_VS, "GSVS_ITEM")}
        with m.Switch(draw.stage):
            for stage, name in threads.items():
                resources = data.View(RESOURCES, words[f"{name}_RESOURCES"])
                with m.Case(stage):
                    m.d.comb += [
                        program.start.eq(words[f"{name}_START"]),
                        program.gprs.eq(resources.gprs),
                        program.stack.eq(resources.stack_size * SUBENTRIES),
                        program.dx10_clamp.eq(resources.dx10_clamp),
                        program.draw.constant_base.eq(resources.constant_base),
                        *(Value.cast(program[field]).eq(0) for field in _OF_PIXELS),
                    ]
                    if stage in written:
                        ring, item = written[stage]
                        m.d.comb += [
                            program.draw.ring.dword.eq(draw.rings[ring.value]),
                            program.draw.ring.item.eq(words[item]),
                        ]
