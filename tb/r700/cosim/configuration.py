"""The R700 machines that are simulated: small caches overflow often."""

from dataclasses import replace

from ctm.rtl.config import R700, CacheConfig, SharedCacheConfig
from ctm.rtl.draw_config import DrawConfig

SMALL = replace(
    R700,
    array=replace(R700.array, threads=4, temporaries=512),
    memory=replace(R700.memory, outstanding_lines=8, local_ports=2),
    input_cache=CacheConfig(sets=4, ways=2),
    shared_cache=SharedCacheConfig(sets=8, ways=2, banks=2),
    conditional_cache=CacheConfig(sets=2, ways=2),
)
DRAW = replace(SMALL, pipeline=DrawConfig(stages="vertex"))
"""The same with draws."""
