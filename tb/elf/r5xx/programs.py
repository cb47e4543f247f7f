"""The real programs of tb/data/r5xx/shaders."""

from pathlib import Path

SHADERS = tuple(sorted((Path(__file__).parents[2] / "data" / "r5xx" / "shaders").glob("*.json")))
