"""Each campaign runs a few seeds, as they are drawn and opened; what it covers is in its tables."""

import pytest

from ctm.tb.lib.some import only
from ctm.tb.verify.campaign import Campaign
from ctm.tb.verify.catalogue import CAMPAIGNS

SEEDS = {"r700": range(4), "soak-r5xx": range(4), "kernels": range(3), "arithmetic": range(3, 4)}
PRESETS = ("r700", "soak-r5xx")
"""Campaigns on machines of which the ordinary suite compiles none."""
LONG_SEEDS = {
    "r5xx": range(200), "r700": range(60), "soak-r5xx": range(100), "soak-r700": range(12), "draws": range(300),
    "kernels": range(30), "arithmetic": range(60), "configurations-r5xx": range(1), "configurations-r700": range(1),
}  # fmt: skip


def check(campaign: Campaign, seeds: range) -> None:
    tables = {name: set(cells) for name, cells in campaign.tables().items()}
    for seed in seeds:
        found = campaign.run({"seed": seed})
        assert found.difference is None, found.difference
        for event, count in found.events.items():
            table, cell = event.split("|")
            assert cell in tables[table] and count == 1, event


@pytest.mark.parametrize("name", only(SEEDS, SEEDS.keys() - set(PRESETS)))
def test_a_few_seeds(name: str) -> None:
    campaign = CAMPAIGNS[name]
    check(campaign, SEEDS[name])
    case = campaign.opened({"seed": SEEDS[name][0]})
    assert campaign.run(case).difference is None
    assert (campaign.size(case) > 0) == (name != "arithmetic")
    whole = campaign.kept(case, range(campaign.size(case)))
    if name != "arithmetic":
        assert whole is not None and campaign.size(whole) == campaign.size(case)
        assert campaign.run(whole).difference is None


@pytest.mark.long
@pytest.mark.parametrize("name", CAMPAIGNS)
def test_more_seeds(name: str) -> None:
    check(CAMPAIGNS[name], LONG_SEEDS[name])


def test_all_campaigns_are_tried() -> None:
    assert LONG_SEEDS.keys() == CAMPAIGNS.keys()
