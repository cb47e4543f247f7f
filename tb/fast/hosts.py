"""Processors that programs are compiled for in tests."""

from dataclasses import replace

import pytest

from ctm.sim.engines.fast.host import BASELINE, Host

HOSTS = {
    "4 lanes": Host.this(4),
    "8 lanes": Host.this(8),
    "16 lanes": Host.this(16),
    "baseline": BASELINE,
    "8 lanes, unfused": replace(Host.this(8), fused=False),
}
"""Vectors of every width with all that this computer can, and what every computer can."""

every_host = pytest.mark.parametrize("host", HOSTS.values(), ids=HOSTS.keys())
