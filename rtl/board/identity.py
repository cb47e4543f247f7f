"""The fingerprint of a configuration, which a board and a host compare."""

import hashlib
import json
from dataclasses import asdict

from ctm.rtl.config import SIMULATED, MachineConfig
from ctm.rtl.isa.link import FINGERPRINT_BITS


def fingerprint(config: MachineConfig) -> int:
    """A hash of a configuration, the same for all that differ in their simulated memory only."""
    settings = asdict(config)
    for name in SIMULATED:
        del settings["memory"][name]
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).digest()
    return int.from_bytes(digest[: FINGERPRINT_BITS // 8], "little")
