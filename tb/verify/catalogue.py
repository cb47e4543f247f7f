"""All campaigns by their names."""

from ctm.tb.verify.campaign import Campaign
from ctm.tb.verify.campaigns.arithmetic import ArithmeticCampaign
from ctm.tb.verify.campaigns.configurations import ConfigurationCampaign
from ctm.tb.verify.campaigns.kernels import KernelCampaign
from ctm.tb.verify.campaigns.soak import SoakCampaign
from ctm.tb.verify.draws.campaign import DrawCampaign
from ctm.tb.verify.r5xx.campaign import R5xxCampaign
from ctm.tb.verify.r700.campaign import R700Campaign

_ALL: tuple[Campaign, ...] = (
    R5xxCampaign(), R700Campaign(), SoakCampaign("r5xx"), SoakCampaign("r700"), DrawCampaign(), KernelCampaign(),
    ArithmeticCampaign(), ConfigurationCampaign("r5xx"), ConfigurationCampaign("r700"),
)  # fmt: skip
CAMPAIGNS: dict[str, Campaign] = {campaign.name: campaign for campaign in _ALL}
