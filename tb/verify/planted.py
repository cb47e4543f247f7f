"""Faults of the hardware that are planted to see that campaigns find them: the rows of ``planted.toml``.

A fault is a mutant of `ctm.tb.mutation`: workers import it instead of its file, and have a cache of their own, because
compiled models are kept by the sources that are on disk.
"""

import json
import os
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

from ctm.tb.mutation.hook import SITE, VARIABLE
from ctm.tb.mutation.mutants import TOP, Mutant, Source

TABLE = Path(__file__).with_name("planted.toml")


@dataclass(frozen=True, kw_only=True)
class Planted:
    """A fault, and the campaign that finds it; `line` is the text of its line, `change` as a mutant's."""

    about: str
    campaign: str
    file: str
    line: str
    change: str

    @property
    def mutant(self) -> Mutant:
        """The mutant.

        Raises
        ------
        ValueError
            The file has no such line, or nothing there to change so: the source has changed, and the row must follow.
        """
        for mutant in Source(TOP / self.file).mutants:
            if (mutant.line_text, mutant.text, mutant.index) == (self.line, self.change, 1):
                return mutant
        raise ValueError(f"{self.file} has no line {self.line!r} with {self.change!r}")


@dataclass(frozen=True)
class Caught:
    """What became of a fault: the command's status and output, and the items that are left of each reduced case."""

    status: int
    output: str
    sizes: tuple[int, ...]


def planted() -> list[Planted]:
    """All rows."""
    return [Planted(**row) for row in tomllib.loads(TABLE.read_text())["fault"]]


def catch(fault: Planted, folder: Path, *, minutes: float, failures: int = 3) -> Caught:
    """Run the campaign of a fault with the fault in the hardware, in processes and a cache of its own."""
    kept = folder / "kept"
    command = [sys.executable, "-m", "ctm.tb.verify", "--campaign", fault.campaign, "-o", str(kept)]
    command += ["--minutes", str(minutes), "--failures", str(failures)]
    cache = folder / "cache"
    cache.mkdir()
    paths = os.pathsep.join([str(SITE), *filter(None, [os.environ.get("PYTHONPATH")])])
    own = {VARIABLE: fault.mutant.name, "PYTHONPATH": paths, "XDG_CACHE_HOME": str(cache)}
    run = subprocess.run(command, env={**os.environ, **own}, capture_output=True, text=True, check=False, cwd=TOP)
    found = [json.loads(path.read_text()) for path in sorted(kept.glob("*.json"))]
    sizes = tuple(int(each["items"]) for each in found if each["items"])
    return Caught(run.returncode, run.stdout + run.stderr, sizes)
