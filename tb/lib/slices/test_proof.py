"""Register slices lose, repeat and reorder nothing, and have their rate: proved for every schedule."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from ctm.rtl.lib.register_slice import SliceMode
from ctm.tb.lib.planting import Fault, faulty_module
from ctm.tb.lib.proving import needs_prover, proves
from ctm.tb.lib.slices import proof as slices
from ctm.tb.lib.slices.proof import HandshakeProof, SliceProof, StreamProof

UNITS: dict[str, Callable[[], StreamProof]] = {
    **{mode.name: partial(SliceProof, mode) for mode in SliceMode},
    "HANDSHAKE": HandshakeProof,
}
BUGS = {
    "a transfer that waits is lost": ("FULL", "m.d.sync += waits.eq(1)", "pass"),
    "the newer one goes first": ("FULL", "m.d.sync += payload.eq(waiting)", "pass"),
    "a transfer that waits is repeated": ("FULL", "(self.input.payload), waits.eq(0)]", "(self.input.payload)]"),
    "a transfer without valid is taken": ("FORWARD", "eq(~valid | self.output.ready)", "eq(1)"),
    "a transfer is repeated": ("FORWARD", "eq(~valid | self.output.ready)", "eq(~valid)"),
    "a light slice takes two": ("LIGHT", "Mux(valid, ~self.output.ready, self.input.valid)", "self.input.valid"),
    "what comes in a stall is not kept": ("REVERSE", "valid.eq(self.output.valid & ~self.output.ready)", "valid.eq(0)"),
    "every second cycle": ("REVERSE", "valid.eq(self.output.valid & ~self.output.ready)", "valid.eq(~valid)"),
    "a transfer is offered twice": ("HANDSHAKE", " & ~(offered & self.output.ready)", ""),
    "a transfer is complete too early": (
        "HANDSHAKE",
        "complete.eq(offered & self.output.ready)",
        "complete.eq(offered)",
    ),
}
"""By what goes wrong: the unit, the text of its source, and the replacement."""


def proved(unit: StreamProof, folder: Path, *, mode: str, depth: int) -> bool:
    return proves(unit, [unit.offers, unit.takes], folder, mode=mode, depth=depth)


@needs_prover
@pytest.mark.parametrize("name", UNITS)
def test_every_transfer_leaves_once_and_in_order(name: str, tmp_path: Path) -> None:
    assert proved(UNITS[name](), tmp_path / "prove", mode="prove", depth=3)
    assert proved(UNITS[name](), tmp_path / "cover", mode="cover", depth=14)


@needs_prover
@pytest.mark.parametrize("bug", BUGS)
def test_a_bug_has_a_counterexample(bug: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name, old, new = BUGS[bug]
    module = faulty_module(Fault("rtl.lib.register_slice", old, new))
    for kind in ("RegisterSlice", "RegisteredHandshake"):
        monkeypatch.setattr(slices, kind, getattr(module, kind))
    # Modes of the broken module are others, of the same names.
    unit = HandshakeProof() if name == "HANDSHAKE" else SliceProof(module.SliceMode[name])
    assert not proved(unit, tmp_path / "bmc", mode="bmc", depth=12)
