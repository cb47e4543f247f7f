"""Says whether two checkouts make the same hardware but for the names of signals, instances and modules.

``python -m ctm.tb.lib.same_design write FOLDER`` writes the RTLIL of five presets, or of those named after it;
``... compare OLD NEW`` reads two such folders. A rename keeps the order and the form of every statement: two texts are
the same design if their tokens are equal under one mapping of names, one to one in each module.
"""

import re
import sys
from pathlib import Path

from ctm.rtl.config import PRESETS
from ctm.rtl.machine import Machine
from ctm.sim.compiled.verilog import convert_to_rtlil

ORDINARY = ("tiny", "default", "small", "r700", "r700-small")
"""The presets that together have every unit."""

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\S+')
MODULES = ""
"""The scope of the names of modules."""


class Names:
    """A mapping of old names to new ones, one to one: of modules in the design, of anything else in its module."""

    def __init__(self) -> None:
        self._new: dict[tuple[str, str], str] = {}
        self._old: dict[tuple[str, str], str] = {}

    def equal(self, scope: str, old: str, new: str) -> bool:
        """Whether `old` and `new` may name the same thing in the module `scope`, now that they do."""
        return self._new.setdefault((scope, old), new) == new and self._old.setdefault((scope, new), old) == old


class Comparison:
    """Two texts of RTLIL, read side by side, statement by statement."""

    def __init__(self) -> None:
        self.names = Names()
        self.module = ""
        self.cell = ""
        """The type of the cell whose statements follow, "" outside of one."""

    def equal(self, old: list[str], new: list[str]) -> bool:
        """Whether two statements are the same but for names."""
        if len(old) != len(new) or old[0] != new[0]:
            return False
        match old[0]:
            case "module":
                self.module, self.cell = old[1], ""
                return self.names.equal(MODULES, old[1], new[1])
            case "cell":
                self.cell = old[1]
                types = old[1] == new[1] if old[1].startswith("$") else self.names.equal(MODULES, old[1], new[1])
                return types and self._equal(old[2:], new[2:])
            case "end":
                self.cell = ""
            case "parameter" if "MEMID" in old[1]:
                return old[1] == new[1] and self.names.equal(self.module, old[2].strip('"'), new[2].strip('"'))
            case "parameter":
                return old == new
            case "connect" if self.cell.startswith("$"):
                return old[1] == new[1] and self._equal(old[2:], new[2:])
            case "connect" if self.cell:
                return self.names.equal(self.cell, old[1], new[1]) and self._equal(old[2:], new[2:])
        return self._equal(old[1:], new[1:])

    def _equal(self, old: list[str], new: list[str]) -> bool:
        return all(
            self.names.equal(self.module, *each) if each[0][0] in "\\$" and each[1][0] in "\\$" else each[0] == each[1]
            for each in zip(old, new, strict=True)
        )


def difference(old: str, new: str) -> str | None:
    """The first statement at which two texts of RTLIL are not the same design, None if they are."""
    comparison = Comparison()
    lines = tuple(_statements(text) for text in (old, new))
    for (number, before), (_, after) in zip(*lines, strict=False):
        if not comparison.equal(_TOKEN.findall(before), _TOKEN.findall(after)):
            return f"line {number}: {before.strip()!r} became {after.strip()!r}"
    if len(lines[0]) != len(lines[1]):
        return f"{len(lines[0])} statements became {len(lines[1])}"
    return None


def _statements(text: str) -> list[tuple[int, str]]:
    """Lines with their numbers, without attributes: those only carry names of enumerations."""
    lines = enumerate(text.splitlines(), 1)
    return [(number, line) for number, line in lines if line.strip() and not line.lstrip().startswith("attribute ")]


def main(arguments: list[str]) -> int:
    """The command: 0 if it wrote or all presets are the same, 1 if one is not, 2 if it was called wrongly."""
    match arguments:
        case ["write", folder, *presets] if set(presets) <= set(PRESETS):
            Path(folder).mkdir(parents=True, exist_ok=True)
            for name in presets or ORDINARY:
                Path(folder, f"{name}.il").write_text(convert_to_rtlil(Machine(PRESETS[name]), top="ctm"))
            return 0
        case ["compare", old, new]:
            found = {
                path.stem: difference(path.read_text(), Path(new, path.name).read_text())
                for path in sorted(Path(old).glob("*.il"))
            }
            for name, text in found.items():
                print(f"{name}: {text or 'the same design'}")
            return int(not found or any(found.values()))
    print("usage: same_design write FOLDER [PRESET ...] | compare OLD NEW", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
