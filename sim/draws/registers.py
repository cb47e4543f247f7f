"""The registers of a recorded draw, and the state that this machine does not have.

Names and fields are those of Mesa's r600 driver; docs/draws.md, says what is built. A state that is not is
an error with its register's name, so that nothing is drawn wrongly in silence.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from ctm.sim.draws.error import DrawError

_INPUTS = 32
_TARGETS = 8
_BLEND_ADD = 0x101
"""CB_BLEND_CONTROL: ONE, ONE, ADD, for all channels."""
_CLIP_BITS = 1 << 19 | 1 << 20 | 1 << 22 | 1 << 24 | 1 << 26 | 1 << 27
_PS_CLIP_PLANES = 3 << 14


class Registers:
    """The registers of a draw by name; one that was not recorded is 0."""

    def __init__(self, recorded: Mapping[str, object]) -> None:
        self._words: dict[str, int] = {}
        for name, text in recorded.items():
            if not isinstance(text, str):
                raise DrawError(f"registers.{name}: must be a word as a string of hexadecimal digits")
            try:
                word = int(text, 16)
            except ValueError:
                raise DrawError(f"registers.{name}: '{text}' is no hexadecimal word") from None
            self._words[name] = word

    def __getitem__(self, name: str) -> int:
        return self._words.get(name, 0)

    def __contains__(self, name: str) -> bool:
        return name in self._words

    def bits(self, name: str, high: int, low: int) -> int:
        """A field of a register."""
        return self[name] >> low & (1 << high - low + 1) - 1

    def flag(self, name: str, bit: int) -> bool:
        """A bit of a register."""
        return bool(self[name] >> bit & 1)

    def real(self, name: str) -> float:
        """A register that holds a float."""
        return float(np.uint32(self[name]).view(np.float32))


class _Rule(NamedTuple):
    """What a register must be; `what` says what it would ask for otherwise."""

    register: str
    holds: Callable[[int], bool]
    what: str


def _zero(mask: int) -> Callable[[int], bool]:
    return lambda word: not word & mask


def _is(*values: int) -> Callable[[int], bool]:
    return lambda word: word in values


_RULES = (
    _Rule("DB_DEPTH_CONTROL", _zero(1), "a stencil test"),
    _Rule("DB_DEPTH_CONTROL", _zero(1 << 3), "a depth bounds test"),
    _Rule("DB_SHADER_CONTROL", _zero(1 << 1), "a stencil value of the program"),
    _Rule("DB_SHADER_CONTROL", _zero(1 << 7 | 1 << 8), "a coverage mask of the program"),
    _Rule("DB_ALPHA_TO_MASK", _zero(1), "alpha to coverage"),
    _Rule("SX_ALPHA_TEST_CONTROL", _zero(1 << 3), "an alpha test"),
    _Rule("PA_SC_AA_CONFIG", _zero(3), "multisampling"),
    _Rule("PA_SC_MODE_CNTL", _zero(1), "multisampling"),
    _Rule("PA_SC_EDGERULE", _is(0xAAAA_AAAA), "another fill rule"),
    _Rule("PA_SC_WINDOW_OFFSET", _is(0), "a window offset"),
    _Rule("PA_SC_CLIPRECT_RULE", _is(0xFFFF, 0), "clip rectangles"),
    _Rule("PA_SU_VTX_CNTL", _is(0x29), "another snapping of vertices"),
    _Rule("PA_SU_SC_MODE_CNTL", _zero(3 << 3), "polygons as points or lines"),
    _Rule("PA_SU_SC_MODE_CNTL", _zero(7 << 11), "a polygon offset"),
    _Rule("PA_CL_VTE_CNTL", _is(0x43F), "another viewport transformation"),
    _Rule("PA_CL_CLIP_CNTL", _zero(0x3F), "clip planes of the hardware"),
    _Rule("PA_CL_CLIP_CNTL", _zero(1 << 16), "drawing without clipping"),
    _Rule("PA_CL_CLIP_CNTL", lambda word: bool(word >> 24 & 1), "linear inputs that are not clipped linearly"),
    _Rule("PA_CL_CLIP_CNTL", lambda word: not word & ~(_CLIP_BITS | _PS_CLIP_PLANES), "another clipping"),
    _Rule("PA_CL_VS_OUT_CNTL", _zero(1 << 17), "edge flags"),
    _Rule("PA_CL_VS_OUT_CNTL", _zero(1 << 18), "layers of a target"),
    _Rule("PA_CL_VS_OUT_CNTL", _zero(1 << 19), "several viewports"),
    _Rule("PA_CL_VS_OUT_CNTL", _zero(1 << 20), "vertices that are killed"),
    _Rule("SPI_PS_IN_CONTROL_0", _zero(0xF << 15), "generated parameters"),
    _Rule("SPI_PS_IN_CONTROL_1", _zero(1), "a generated pixel index"),
    _Rule("SPI_PS_IN_CONTROL_1", _zero(1 << 11), "a face of all bits"),
    _Rule("SPI_PS_IN_CONTROL_1", _zero(1 << 24), "a fixed-point position"),
    _Rule("VGT_MIN_VTX_INDX", _is(0), "a least index"),
    _Rule("VGT_MAX_VTX_INDX", _is(0xFFFF_FFFF), "a largest index"),
    _Rule("VGT_HOS_CNTL", _is(0), "tessellation"),
    _Rule("VGT_GS_MODE", lambda word: word & 3 != 2, "scenario B of geometry programs"),
    *(_Rule(f"SPI_PS_INPUT_CNTL_{number}", _zero(0xF << 13), "cylinder wrap of an input") for number in range(_INPUTS)),
)
_OPTIONAL = ("VGT_MAX_VTX_INDX", "PA_SC_EDGERULE", "PA_SU_VTX_CNTL", "PA_CL_VTE_CNTL", "PA_CL_CLIP_CNTL")
"""Registers whose value 0 is unsupported: one that was not recorded has the usual value."""


def check(registers: Registers) -> None:
    """Raise an error for a state that is not supported.

    Raises
    ------
    DrawError
        With the register's name, its word, and the unsupported feature.
    """
    for rule in _RULES:
        word = registers[rule.register]
        if not rule.holds(word) and not (rule.register in _OPTIONAL and rule.register not in registers):
            raise DrawError(f"{rule.register} is 0x{word:08x}: {rule.what} is not built")
    _check_points(registers)
    _check_blending(registers)


def _check_points(registers: Registers) -> None:
    sized = registers.flag("PA_CL_VS_OUT_CNTL", 16)
    if sized and registers["PA_SU_POINT_MINMAX"] != 0xFFFF_0000:
        raise DrawError(
            f"PA_SU_POINT_MINMAX is 0x{registers['PA_SU_POINT_MINMAX']:08x}: "
            "bounds of a point size that the program sets are not built"
        )


def _check_blending(registers: Registers) -> None:
    word = registers["CB_COLOR_CONTROL"]
    if word >> 16 & 0xFF != 0xCC:
        raise DrawError(f"CB_COLOR_CONTROL is 0x{word:08x}: a logic operation is not built")
    if word >> 4 & 7:
        raise DrawError(f"CB_COLOR_CONTROL is 0x{word:08x}: a special operation is not built")
    blended = blended_targets(registers)
    for target in range(_TARGETS):
        name = f"CB_BLEND{target}_CONTROL" if word >> 7 & 1 else "CB_BLEND_CONTROL"
        if blended >> target & 1 and registers[name] != _BLEND_ADD:
            raise DrawError(f"{name} is 0x{registers[name]:08x}: only the blending ONE, ONE, ADD is built")


def blended_targets(registers: Registers) -> int:
    """Which targets are blended, bit t of target t."""
    return registers.bits("CB_COLOR_CONTROL", 15, 8)


def scissor(registers: Registers) -> tuple[int, int, int, int]:
    """The intersection of the scissors: first column and row, and those after the last."""
    names = ("WINDOW_SCISSOR", "VPORT_SCISSOR_0", "GENERIC_SCISSOR", "SCREEN_SCISSOR")
    corners = [(registers[f"PA_SC_{name}_TL"], registers[f"PA_SC_{name}_BR"]) for name in names]
    return (
        max(first & 0x3FFF for first, _ in corners),
        max(first >> 16 & 0x3FFF for first, _ in corners),
        min(end & 0x3FFF for _, end in corners),
        min(end >> 16 & 0x3FFF for _, end in corners),
    )
