"""The campaign of draws: its sheets are draws, cells that they cover are in its tables, what differs is made small."""

import json
from dataclasses import replace

import numpy as np
import pytest

from ctm.sim.golden.draw import setup
from ctm.tb.draws.geometry import VERTEX_STREAM
from ctm.tb.draws.random_draws import scene
from ctm.tb.draws.scene import Scene, drawn
from ctm.tb.lib.machines import machine
from ctm.tb.lib.some import only
from ctm.tb.verify.campaign import Case, Found, tried
from ctm.tb.verify.draws.campaign import DrawCampaign
from ctm.tb.verify.draws.drawn import sheet
from ctm.tb.verify.draws.seen import Seen
from ctm.tb.verify.draws.sheet import items, kept, scene_of, sheet_of
from ctm.tb.verify.reduction import reduce
from ctm.tb.verify.tally import Failure

CAMPAIGN = DrawCampaign(machine("draws"))


def left(made: Scene) -> list[bytes]:
    """What a scene leaves."""
    found = drawn(made)
    return [each.tobytes() for each in (found.target, found.depth, *found.streams)]


def test_a_sheet_is_its_scene_and_what_json_holds() -> None:
    for seed in (*range(4), next(seed for seed in range(99) if scene(seed).program is not None)):
        made = scene(seed)
        found = json.loads(json.dumps(sheet_of(made, seed=seed, note={}, targets=1, memory=[1, 0, 0.0])))
        assert left(scene_of(found)) == left(made)


@pytest.mark.slow
def test_a_few_seeds() -> None:
    tables = {name: set(cells) for name, cells in CAMPAIGN.tables().items()}
    assert all(len(cells) == len(CAMPAIGN.tables()[name]) for name, cells in tables.items())
    seen = set()
    for seed in range(8):
        found = CAMPAIGN.run({"seed": seed})
        assert found.difference is None, found.difference
        for event in found.events:
            table, cell = event.split("|")
            assert cell in tables[table], event
        seen |= {event.split("|")[0] for event in found.events}
    assert seen > tables.keys() - {"draw geometry"}


def test_all_items_are_the_same_case() -> None:
    for seed in range(40):
        case = CAMPAIGN.opened({"seed": seed})
        assert case == sheet(seed) and CAMPAIGN.size(case) == len(items(case)) > 0
        assert kept(case, items(case)) == case
    opened = json.loads(json.dumps(CAMPAIGN.opened({"seed": 3})))
    assert CAMPAIGN.run(opened).difference is None


def test_programs_that_write_rings_stay_whole() -> None:
    case = next(found for found in map(sheet, range(99)) if found["geometry"] is not None)
    fewer = kept(case, [])
    assert fewer["programs"]["program"] == case["programs"]["program"]
    assert fewer["programs"]["copy"] == [".isa r700", ".stage dc"]
    with pytest.raises(ValueError):
        scene_of(fewer)


def test_a_sheet_without_a_key_is_no_case() -> None:
    case = {name: value for name, value in sheet(0).items() if name != "memory"}
    with pytest.raises(ValueError, match="it has no memory"):
        tried(CAMPAIGN, case)


def test_a_failure_lists_its_programs_by_name() -> None:
    case = sheet(0)
    listing = Failure("draws", case, "memory differs", "memory").listing
    vertex, pixel = case["programs"]["vertex"], case["programs"]["pixel"]
    assert listing == ["; vertex", *vertex, "; pixel", *pixel]


def test_what_streams_take_is_seen() -> None:
    """A draw of three points with streams for all, for two, for none, and with one that is disabled."""
    made = Scene(vertices=[[0.0] * 8] * 3, vertex=VERTEX_STREAM, draw={"primitive": "POINTLIST", "discard": True})
    found = []
    for dwords in (12, 11, 3, 0):
        with Seen() as seen:
            drawn(replace(made, streams={0: (dwords, 4)}))
        assert seen.streamed is not None and seen.shapes is None
        found.append((set(seen.streamed.written), set(seen.streamed.disabled), seen.streamed.is_full))
    assert found == [({0}, set(), False), ({0}, set(), True), (set(), set(), True), (set(), {0}, False)]


class Covering(DrawCampaign):
    """Fails where a draw covers a pixel and its program multiplies, on the golden model."""

    def run(self, case: Case) -> Found:
        made = scene_of(case if "vertices" in case else sheet(case["seed"]))
        multiplies = any("MUL" in line for line in self.opened(case)["programs"]["pixel"])
        return Found("covered", "memory") if multiplies and drawn(made).covered.any() else Found()


def test_what_differs_is_made_small() -> None:
    campaign = Covering()
    seed = next(seed for seed in range(99) if sheet(seed)["geometry"] is None and campaign.run({"seed": seed}).kind)
    found = reduce(campaign, {"seed": seed}, campaign.run({"seed": seed}), seconds=60)
    assert found.is_complete and campaign.size(found.case) <= 9
    assert found.case["memory"] == [1, 0, 0.0] and found.case["draw"]["instances"] == 1
    assert len(found.case["programs"]["pixel"]) == 4, "the head, a MUL, and an export"


MISTAKES = {
    "edges on both sides": ("_edges", lambda found: (found[0], np.ones_like(found[1]))),
    "bounds": ("_bounds", lambda found: found + np.array([0, -1, 0, 0])),
    "records": ("_record", lambda found: np.where(np.arange(4) == 3, np.float32(0.5), found)),
}
"""Of the golden model: a function of set-up, and what becomes of its results."""


@pytest.mark.parametrize("mistake", only(MISTAKES, ("edges on both sides",)))
def test_a_machine_that_sets_up_otherwise_is_found(mistake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, change = MISTAKES[mistake]
    usual = getattr(setup, name)
    monkeypatch.setattr(setup, name, lambda *args: change(usual(*args)))
    found = next(found for seed in range(40) if (found := tried(CAMPAIGN, {"seed": seed})).difference is not None)
    assert found.kind == "memory" and found.difference is not None and "memory differs at 0x" in found.difference


def test_a_draw_that_hangs_is_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctm.tb.verify.draws.campaign._MOST_CYCLES", 500)
    found = CAMPAIGN.run({"seed": 0})
    assert found.kind == "hang" and found.difference is not None and found.difference.startswith("seed 0, memory [")
