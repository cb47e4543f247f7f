"""The real programs of tb/data/shaders."""

from pathlib import Path

SHADERS = tuple(sorted((Path(__file__).parents[1] / "data" / "shaders").glob("*.json")))
