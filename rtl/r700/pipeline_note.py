"""The note "R700 pipeline" of a loaded image: the programs of a draw beside the pixel program.

Source: docs/draws.md.
"""

from typing import Any

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import data

from ctm.rtl.border.shading import Stage
from ctm.rtl.isa.r700.exports import PARAMETERS
from ctm.rtl.isa.r700.limits import FIRST_CLAUSE_TEMPORARY, STACK_ENTRIES, SUBENTRIES
from ctm.rtl.isa.r700.pipeline import DISTANCES, PIPELINE_INFORMATION, PRESENT, RESOURCES, VERSION

_CONSTANT_BASE_BITS, _BUFFER_BITS = 4, 8


class PipelineNote:
    """The words of the note, and what is wrong with them. Combinational.

    `is_bad`: they are not allowed; `is_beyond`: the pipeline has programs that the hardware does not run.
    """

    def __init__(self, m: Module, image: Any, draw: Any) -> None:
        self._draw = draw
        self._words = words = dict(zip(PIPELINE_INFORMATION, image.pipeline, strict=True))
        self._present, self._resources = (
            data.View(PRESENT, words["PRESENT"]),
            data.View(RESOURCES, words["VERTEX_RESOURCES"]),
        )
        self.distances = data.View(DISTANCES, words["DISTANCES"])
        self.is_bad, self.is_beyond = Signal(name="bad_pipeline"), Signal(name="pipeline_beyond")
        absent = [word for name, word in words.items() if name.startswith(("GEOMETRY", "COPY"))]
        reserved = [word for name, word in words.items() if name.startswith("reserved") or name.endswith("RESERVED")]
        resources, present = self._resources, self._present
        bad = [
            image.pipelines != 1,
            words["version"] != VERSION,
            ~present.vertex,
            words["VERTEX_START"] >= image.size,
            (resources.gprs == 0) | (resources.gprs > FIRST_CLAUSE_TEMPORARY),
            resources.stack_size > STACK_ENTRIES,
            resources.constant_base >> _CONSTANT_BASE_BITS != 0,
            words["VERTEX_BUFFER"] >> _BUFFER_BITS != 0,
            present.fetch & (words["FS_START"] >= image.size),
            ~present.fetch & words["FS_START"].any(),
            (words["PARAMETERS"] == 0) | (words["PARAMETERS"] > PARAMETERS),
            words["PRIMITIVE_NUMBER"] > 1,
            resources.reserved.any() | present.reserved.any() | self.distances.reserved.any(),
            Cat(reserved).any(),
            ~present.geometry & Cat(absent).any(),
        ]
        m.d.comb += [self.is_bad.eq(Cat(bad).any()), self.is_beyond.eq(present.geometry)]

    def connect(self, m: Module, program: Any, programs: Any) -> None:
        """Set what a draw's programs have and ask for, and for vertices what differs from the pixel program."""
        words, draw, resources, distances = self._words, self._draw, self._resources, self.distances
        m.d.comb += [
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
            programs.by_primitive.eq(words["PRIMITIVE_NUMBER"]),
        ]
        with m.If(draw.stage == Stage.VERTICES):
            m.d.comb += [
                program.start.eq(words["VERTEX_START"]),
                program.gprs.eq(resources.gprs),
                program.stack.eq(resources.stack_size * SUBENTRIES),
                program.dx10_clamp.eq(resources.dx10_clamp),
                program.draw.constant_base.eq(resources.constant_base),
                *(
                    Value.cast(program[name]).eq(0)
                    for name in ("share", "tests", "conditional_from_program", "memory", "scratch", "domain")
                ),
            ]
