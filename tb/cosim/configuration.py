"""The configurations that are simulated: small, so that they build fast and their caches overflow often."""

from dataclasses import replace

from ctm.rtl.config import TINY, CacheConfig, SharedCacheConfig, with_settings

SMALL = replace(
    TINY,
    memory=replace(TINY.memory, outstanding_lines=8, local_ports=2),
    input_cache=CacheConfig(sets=4, ways=2),
    shared_cache=SharedCacheConfig(sets=8, ways=2, banks=2),
    conditional_cache=CacheConfig(sets=2, ways=2),
)
"""Of units of the machine."""
MACHINE = with_settings(SMALL, {"array.rate": 1})
"""Of the whole: its lanes are most of what is built."""
