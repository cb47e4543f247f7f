"""The page with responses that are always the same, at once: ``python -m ctm.tb.explore.canned`` serves it."""

from base64 import b64encode
from threading import Event

import numpy as np

from ctm.sim.cli.signals import interruptible
from ctm.sim.explore.explorer import Explorer
from ctm.sim.explore.models import Models
from ctm.sim.explore.request import Cost, Explored, Instruction, Picture, Problem, Program, Request, Run
from ctm.sim.explore.server import listening, serve
from ctm.sim.explore.start import Start
from ctm.sim.runtime.png import png

SOURCE = "#include <ctm/kernel.h>\nkernel void f(vec2 p) {\n    vec4 x = texel(0, p);\n    output(0, 2 * x);\n}\n"
FETCH, OUTPUT = 3, 4
"""Lines of it that have instructions."""
WAITED = {"fetch": 1234, "port": 56}
MARK = "wrong"
"""A source with this has an error in its last line."""
SLOW = "slow"
"""Hardware does not end a source with this in time."""


class CannedExplorer(Explorer):
    """Knows one kernel, and one error."""

    _runs = 0

    def prepare(self) -> None:
        """No process waits."""

    def explored(self, request: Request, stop: Event) -> Explored:
        """What there is to say of the kernel."""
        if MARK in request.text:
            problem = Problem(message=f"use of '{MARK}'", line=request.text[: request.text.index(MARK)].count("\n") + 1)
            return Explored(programs=tuple(Program(isa=isa, problems=(problem,)) for isa in ("r5xx", "r700")))
        self._runs += request.engine != ""
        if SLOW in request.text and request.engine == "rtl":
            return Explored(failure="it did not end within 10 seconds")
        programs = (
            _program("r5xx", ["TEX r0 = LOOKUP(i0, r0)", "OUT o0 = ADD(r0, r0)"]),
            _program("r700", ["TEX ADDR(L2) CNT(1)", "EXPORT_DONE PIX0, R0"]),
        )
        return Explored(programs=programs, run=_run(request, self._runs) if request.engine else None, job="[program]\n")


class CannedModels(Models):
    """Every machine is there."""

    def is_there(self, isa: str) -> bool:
        """It is."""
        return True


def _program(isa: str, texts: list[str]) -> Program:
    instructions = (Instruction(unit=unit, text=text, line=FETCH + unit) for unit, text in enumerate(texts))
    return Program(isa=isa, instructions=tuple(instructions))


def _run(request: Request, number: int) -> Run:
    lines = {
        FETCH: Cost(issues=10, cost=1300, efficiency=1.0, waited=WAITED),
        OUTPUT: Cost(issues=10, cost=10, efficiency=0.5),
    }
    shades = np.linspace(0, 255, 64, dtype=np.uint8).reshape(8, 8)
    picture = Picture(name="output 0", shape="8 x 8, 1 channels", png=b64encode(png(shades)).decode())
    return Run(
        isa=request.isa, engine=request.engine, extent=f"64 pixels, run {number}", cycles=4321, instructions=20,
        whole=Cost(issues=20, cost=1310, efficiency=0.75), lines=lines, pictures=(picture,),
    )  # fmt: skip


def main() -> None:
    """Serve until a signal comes."""
    with interruptible(), listening(0) as at:
        print(f"http://127.0.0.1:{at.getsockname()[1]}/ is the page", flush=True)
        serve(at, Start(SOURCE, "kernel.c"), CannedExplorer(), CannedModels(), show=False)


if __name__ == "__main__":
    main()
