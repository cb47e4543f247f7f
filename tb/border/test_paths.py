"""No path leads through a unit from border to border in one cycle unless `exceptions` says why."""

from functools import cache

import pytest
from amaranth import Module

from ctm.rtl.config import PRESETS
from ctm.rtl.dpp.wavefronts.scheduler import Scheduler
from ctm.rtl.mc.inputs.caches import InputCaches
from ctm.tb.border.exceptions import ALLOWED
from ctm.tb.border.units import Pair, combinational_pairs
from ctm.tb.lib.some import only

CHECKED = ("tiny", "default", "small", "r700", "r700-small", "r700-draw")
ALWAYS = ("small", "r700-draw")
"""Of both instruction sets, in beats and not, with every unit; all exceptions occur in them."""


@cache
def found(preset: str) -> frozenset[Pair]:
    return frozenset(combinational_pairs(PRESETS[preset]))


def problems(pairs: frozenset[Pair] | set[Pair]) -> list[str]:
    """What is to be said of paths that are not allowed."""
    return [
        f"{pair.unit}: output {pair.output} follows from input {pair.input} in the same cycle. Put a register between "
        "them, or enter the pair with its reason in tb/border/exceptions.py."
        for pair in sorted(pairs)
        if not any(allowed.covers(pair) for allowed in ALLOWED)
    ]


@pytest.mark.parametrize("preset", only(CHECKED, ALWAYS))
def test_every_path_from_border_to_border_has_a_reason(preset: str) -> None:
    messages = problems(found(preset))
    assert not messages, "\n".join(messages)


def test_every_exception_is_needed() -> None:
    pairs = frozenset().union(*map(found, ALWAYS))
    idle = [allowed for allowed in ALLOWED if not any(map(allowed.covers, pairs))]
    assert not idle


@pytest.mark.slow
def test_a_path_from_results_to_the_issue_of_instructions_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    elaborate = Scheduler.elaborate

    def planted(self: Scheduler, platform: object) -> Module:
        m = elaborate(self, platform)
        port = self.ports[1]
        with m.If(port.done.again):
            m.d.comb += port.issue.valid.eq(0)
        return m

    monkeypatch.setattr(Scheduler, "elaborate", planted)
    assert problems(combinational_pairs(PRESETS["small"])) == [
        "Scheduler: output ports__1__issue follows from input ports__1__done in the same cycle. Put a register between "
        "them, or enter the pair with its reason in tb/border/exceptions.py."
    ]


@pytest.mark.long
def test_a_path_through_two_units_is_found_in_what_is_around_them(monkeypatch: pytest.MonkeyPatch) -> None:
    elaborate = InputCaches.elaborate

    def planted(self: InputCaches, platform: object) -> Module:
        m = elaborate(self, platform)
        with m.If(~self.clients[0].response.ready):
            m.d.comb += self.clients[0].request.ready.eq(0)
        return m

    monkeypatch.setattr(InputCaches, "elaborate", planted)
    (caches, *around) = problems(combinational_pairs(PRESETS["small"]))
    assert caches.startswith(
        "InputCaches: output clients__0__request__ready follows from input clients__0__response__ready "
    )
    assert {message.partition(": ")[0] for message in around} == {"MemoryController"}
    assert all("fetches__0__request__ready" in message for message in around)
