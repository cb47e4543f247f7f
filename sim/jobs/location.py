"""Where a key stands in a TOML file: the parser does not say, and a message should."""

import re
from collections.abc import Sequence

_HEADER = re.compile(r"\s*(\[\[?)\s*([A-Za-z0-9_.\-]+)\s*\]\]?")
_KEY = re.compile(r"\s*([A-Za-z0-9_\-]+)\s*=")


def line_of(text: str, path: Sequence[str | int]) -> int:
    """The line, counted from 1, of the key at `path`, such as ``("inputs", 0, "format")``, or of its section.

    Sections that are not there, and keys inside inline tables, give the line of what contains them.
    """
    found = 1
    section: list[str | int] = []
    seen: dict[str, int] = {}
    depth = 0
    for number, line in enumerate(text.splitlines(), start=1):
        header = _HEADER.match(line)
        if header:
            section = [*header[2].split(".")]
            if header[1] == "[[":
                seen[header[2]] = seen.get(header[2], -1) + 1
                section.append(seen[header[2]])
            key: list[str | int] = section
        else:
            match = _KEY.match(line)
            if not match:
                continue
            key = [*section, match[1]]
        shared = min(len(key), len(path))
        if shared > depth and list(path[:shared]) == key[:shared]:
            found, depth = number, shared
    return found
