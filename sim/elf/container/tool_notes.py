"""Notes of tools: the machine's loader, which looks at notes of its own name only, skips them."""

import enum

TOOL_NAME = b"CTM\x00"
"""The owner of these notes."""


class ToolNote(enum.Enum):
    """Kinds of notes.

    LINES: which line of which source each unit of code comes from; `sim/elf/lines.py`.
    CONSTANTS: constants that the program brings along; `sim/elf/constants.py`.
    """

    LINES = 1
    CONSTANTS = 2
