"""Configuration of the graphics pipeline, a section of the machine's."""

from dataclasses import dataclass

from ctm.rtl.setting import check, check_name

DRAW_STAGES = ("none", "vertex", "geometry")
"""Programs that a machine draws with: see `DrawConfig`."""


@dataclass(frozen=True, kw_only=True)
class DrawConfig:
    """The graphics pipeline of an R700 machine.

    `stages` are the programs in front of the pixel program: "none", a machine that does not draw, "vertex", or
    "geometry", with geometry and copy programs, streams, and all kinds of primitives beside vertex programs.
    `vertices` are those that are shaded together, whose results the vertex store keeps. The golden model draws with all
    stages whatever this is.
    """

    stages: str = "none"
    vertices: int = 64

    def __post_init__(self) -> None:
        check_name(self, "stages", DRAW_STAGES)
        check(self, "vertices", low=64, high=256, power_of_two=True)

    @property
    def draws(self) -> bool:
        """Whether the hardware draws."""
        return self.stages != "none"

    @property
    def has_geometry(self) -> bool:
        """Whether it draws with geometry and copy programs."""
        return self.stages == "geometry"
