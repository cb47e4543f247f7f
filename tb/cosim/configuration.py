"""The configuration that is simulated: small, so that it builds fast and its caches overflow often."""

from dataclasses import replace

from ctm.rtl.config import TINY, CacheConfig, SharedCacheConfig

SMALL = replace(
    TINY,
    memory=replace(TINY.memory, outstanding_lines=8, local_ports=2),
    input_cache=CacheConfig(sets=4, ways=2),
    shared_cache=SharedCacheConfig(sets=8, ways=2, banks=2),
    conditional_cache=CacheConfig(sets=2, ways=2),
)
