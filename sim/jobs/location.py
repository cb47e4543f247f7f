"""Where a key stands in a TOML file: the parser does not say, and a message should."""

import re
from collections.abc import Sequence

_HEADER = re.compile(r"\s*(\[\[?)\s*([A-Za-z0-9_.\-]+)\s*\]\]?")
_KEY = re.compile(r"\s*([A-Za-z0-9_\-.\"]+)\s*=")


def line_of(text: str, path: Sequence[str | int]) -> int:
    """The line, counted from 1, of the key at `path`, such as ``("inputs", 0, "format")``, or of its section.

    Sections that are not there, and keys inside inline tables, give the line of what contains them.
    """
    found = 1
    section: list[str | int] = []
    seen: dict[tuple[str | int, ...], int] = {}
    depth = 0
    for number, line in enumerate(text.splitlines(), start=1):
        header = _HEADER.match(line)
        if header:
            *outer, name = header[2].split(".")
            section = []
            for outer_name in outer:
                section.append(outer_name)
                # Of a section that there may be several of, the last one continues.
                if tuple(section) in seen:
                    section.append(seen[tuple(section)])
            section.append(name)
            if header[1] == "[[":
                array = tuple(section)
                seen[array] = seen.get(array, -1) + 1
                section.append(seen[array])
            key: list[str | int] = section
        else:
            match = _KEY.match(line)
            if not match:
                continue
            key = [*section, *match[1].replace('"', "").split(".")]
        shared = min(len(key), len(path))
        if shared > depth and list(path[:shared]) == key[:shared]:
            found, depth = number, shared
    return found
