"""Units of a core that only the R5xx instruction set has."""

from dataclasses import dataclass

from ctm.rtl.dpp.constants.loader import ConstantLoader
from ctm.rtl.r5xx.alu.port import AluPort
from ctm.rtl.r5xx.alu.uncached_pairs import UncachedPairs
from ctm.rtl.r5xx.code.store import InstructionStore
from ctm.rtl.r5xx.flow.port import FlowPort
from ctm.rtl.r5xx.texture.port import TexturePort


@dataclass(frozen=True, kw_only=True, eq=False)
class Units:
    """The units beside `CoreUnits`, submodules of the core by the same names."""

    store: InstructionStore
    loader: ConstantLoader
    alu: AluPort
    texture: TexturePort
    flow: FlowPort
    pairs: UncachedPairs
