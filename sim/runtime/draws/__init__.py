"""Draws: their state as commands, and their programs linked into one executable."""

from ctm.sim.runtime.draws.draw import Draw, IndexArray, StreamTarget, VertexArray, Viewport
from ctm.sim.runtime.draws.interpolation import PixelInput
from ctm.sim.runtime.draws.sources import pipeline

__all__ = ["Draw", "IndexArray", "PixelInput", "StreamTarget", "VertexArray", "Viewport", "pipeline"]
