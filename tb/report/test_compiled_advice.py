"""What profiles say of compiled programs is right: each sentence is tried on the machine.

docs/profile.md has how many there are, and that they were read beside the programs.
"""

from collections.abc import Callable
from typing import Any

import pytest

from ctm.rtl.config import DEFAULT, R700, MachineConfig, with_settings
from ctm.rtl.dpp.watch import Wait
from ctm.sim.engines.seen import Watching
from ctm.sim.profile import advice as thresholds
from ctm.sim.profile.advice import advice
from ctm.sim.profile.profile import ProgramProfile
from ctm.sim.runtime import CommandBuffer, Device
from ctm.tb.r5xx import shaders as r5xx
from ctm.tb.r700 import shaders as r700
from ctm.tb.report.sums import check_sums

PROGRAMS = [*(("r5xx", name) for name in r5xx.NAMES), *(("r700", name) for name in r700.FILES)]
_CONFIG = {"r5xx": DEFAULT, "r700": R700}


def profile_of(kind: str, name: str, config: MachineConfig, engine: str = "rtl", launches: int = 1) -> ProgramProfile:
    """A program on its whole grid."""
    made: list[Device] = []

    def device(*arguments: Any, **options: Any) -> Device:
        options.pop("hazards", None)
        made.append(Device(*arguments, watch=Watching(), **options))
        return made[0]

    start = CommandBuffer.start_program

    def starts(commands: CommandBuffer) -> CommandBuffer:
        for _ in range(launches):
            start(commands)
        return commands

    shaders: Any = r5xx if kind == "r5xx" else r700
    shader = shaders.Shader.load(name)
    width, height = shader.grid
    where = {"domain": (0, 0, width - 1, height - 1)} if kind == "r5xx" else {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shaders, "Device", device)
        patch.setattr(CommandBuffer, "start_program", starts)
        shaders.run(shader, engine=engine, config=config, **where)
    (found,) = made[0].profiles()
    if engine == "rtl":
        check_sums(made[0].seen(), [found], made[0].report())
    return found


class Claims:
    """Whether a sentence about a program is true."""

    def __init__(self, kind: str, name: str, found: ProgramProfile) -> None:
        self._kind, self._name, self._found = kind, name, found

    def idle(self, text: str) -> bool:
        """As many lanes are idle on the golden model."""
        golden = profile_of(self._kind, self._name, _CONFIG[self._kind], "golden").figures
        return text.startswith(f"{1 - golden.efficiency:.0%} of the lanes") and golden.lost > 0

    def once(self, wait: Wait) -> bool:
        """Another launch of what was set waits for less than is worth a word."""
        twice = profile_of(self._kind, self._name, _CONFIG[self._kind], launches=2).figures
        more = twice.waits_for(wait) - self._found.figures.waits_for(wait)
        return more <= min(thresholds.CODE, thresholds.CONSTANTS) * (twice.cost - self._found.figures.cost)

    def exposed(self, _: str) -> bool:
        """With a memory that responds at once the program takes as many cycles less as the sentence is worth."""
        quick = profile_of(self._kind, self._name, with_settings(_CONFIG[self._kind], {"memory.latency": 1}))
        assert quick.residency is not None and self._found.residency is not None
        return quick.residency.cycles < (1 - thresholds.EXPOSED) * self._found.residency.cycles

    def of(self, text: str) -> Callable[[str], bool]:
        """What tries a sentence; KeyError for one that no compiled program had."""
        tries = {
            "of the lanes do nothing": self.idle,
            "too few others work meanwhile": self.exposed,
            "wait for instructions, which are loaded once": lambda _: self.once(Wait.CODE),
            "wait for constants, of which each line is loaded once": lambda _: self.once(Wait.CONSTANT),
        }
        return next(claim for phrase, claim in tries.items() if phrase in text)


@pytest.mark.long
@pytest.mark.parametrize(("kind", "name"), PROGRAMS)
def test_what_is_said_of_a_compiled_program_is_true(kind: str, name: str) -> None:
    found = profile_of(kind, name, _CONFIG[kind])
    claims = Claims(kind, name, found)
    for text in advice(found):
        assert claims.of(text)(text), text
