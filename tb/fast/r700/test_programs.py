"""Programs of independent compilers leave the golden model's bits and counts, on every wavefront and host."""

from itertools import product

import numpy as np
import pytest

from ctm.sim.engines.fast.host import Host
from ctm.tb.fast.hosts import HOSTS
from ctm.tb.fast.pair import Pair
from ctm.tb.r700.shaders import FILES, Shader, run

_ORDINARY = (
    "const_inline_nosb", "deep_nest_sb", "i_const_index_sb", "depth_out_sfn", "discard_if_nosb", "deriv_sb",
    "loop_divergent_nosb", "mrt4_sfn", "tex_proj_sb", "insertion_sort_llvm", "i_arith_sb", "bits2_llvm_o1",
    "kill_pattern_llvm_o1", "julia_llvm", "select_neg_llvm", "predicates_llvm",
)  # fmt: skip
"""Some of each kind, which LLVM is soon done with."""
_WAVEFRONTS = (4, 16, 64)
_HOSTS = ("8 lanes", "baseline", "8 lanes, unfused")
"""Those that differ where a wavefront is the vector: all that this computer can, and less."""
_MACHINES = list(product(_HOSTS, _WAVEFRONTS))
_LARGE = "LLVM would take too long"
"""The remark on programs of thousands of words by registers of the host, of which a wavefront takes several."""


def _on_machines() -> list:
    """Every program on every machine; ordinarily some, on a machine that changes from one to the next."""
    ordinary = {name: number % len(_MACHINES) for number, name in enumerate(_ORDINARY)}
    return [
        pytest.param(
            name, HOSTS[host], wavefront, marks=() if ordinary.get(name) == number else pytest.mark.long,
            id=f"{name}, {host}, wavefronts of {wavefront}",
        )
        for name in FILES
        for number, (host, wavefront) in enumerate(_MACHINES)
    ]  # fmt: skip


@pytest.mark.parametrize(("name", "host", "wavefront"), _on_machines())
def test_programs(name: str, host: Host, wavefront: int, pair: Pair) -> None:
    shader = Shader.load(name)
    pair.host = host
    found, expected = (run(shader, wavefront=wavefront, engine=engine) for engine in ("fast", "golden"))
    for one, other in zip(found.bits, expected.bits, strict=True):
        np.testing.assert_array_equal(one, other)
    fast = pair.engines["fast"]
    if any(_LARGE in remark for remark in fast.remarks):
        registers = wavefront // host.register
        assert registers > 1 and len(shader.document["dwords"]) * registers > 6_000
        return
    pair.check()
