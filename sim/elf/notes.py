"""What a program uses: the lists that an executable's notes carry.

Source: CTM Guide pp. 46-49.
"""

from dataclasses import dataclass

from ctm.rtl.isa.limits import FLOAT_CONSTANTS, INPUTS, INT_CONSTANTS, OUTPUTS


@dataclass(frozen=True, kw_only=True)
class Notes:
    """Indices that a program uses, ascending, and two facts about it.

    A float constant that is only addressed relative to aL cannot be known and is not listed. An index out of range
    raises ValueError.
    """

    inputs: tuple[int, ...] = ()
    outputs: tuple[int, ...] = ()
    conditional_output: bool = False
    float_constants: tuple[int, ...] = ()
    int_constants: tuple[int, ...] = ()
    early_exit: bool = False
    targets: int = OUTPUTS
    """Outputs that there are: of a draw more than of other programs."""

    def __post_init__(self) -> None:
        lists = {
            "input": (self.inputs, INPUTS),
            "output": (self.outputs, self.targets),
            "float constant": (self.float_constants, FLOAT_CONSTANTS),
            "int constant": (self.int_constants, INT_CONSTANTS),
        }
        for name, (indices, limit) in lists.items():
            for index in indices:
                if not 0 <= index < limit:
                    raise ValueError(f"{name} {index} is not 0..{limit - 1}")
