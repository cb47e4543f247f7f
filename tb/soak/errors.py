"""Mistakes of every kind in drawn work."""

from collections.abc import Mapping

import numpy as np

from ctm.rtl.isa.commands import BY_NAME, BY_WORD, Command
from ctm.rtl.isa.draws import ALL_BY_WORD, DRAW_OUTPUTS
from ctm.rtl.isa.formats import FORMAT
from ctm.rtl.isa.limits import OUTPUTS
from ctm.rtl.isa.word import pack
from ctm.sim.runtime import CommandBuffer

_LINE = 64


def spoil(
    generator: np.random.Generator, commands: list[list[int]], broken: int, image: int, *, draws: bool
) -> list[list[int]]:
    """The commands with one mistake, or none. `broken` is where a malformed executable is, `image` where a good one.

    With `draws` the golden model knows commands and outputs of draws, which not all hardware does.
    """
    words = [
        lambda: _no_command(generator, ALL_BY_WORD if draws else BY_WORD),
        lambda: _bad_parameter(generator, DRAW_OUTPUTS if draws else OUTPUTS),
        lambda: CommandBuffer().set_inst_fmt(broken).start_program().words,
        lambda: _wrong_conditional_format().words,
        lambda: CommandBuffer().append("set_out_fmt", 0, image, pack(FORMAT, pitch=0, format=4), 1).words,
    ]
    kind = int(generator.integers(len(words) + 2))
    index = int(generator.integers(len(commands) + 1))
    if kind == len(words):
        # The buffer ends inside a command.
        last = commands[min(index, len(commands) - 1)]
        return [*commands[:index], last[: int(generator.integers(1, len(last)))]]
    if kind > len(words):
        return commands
    return [*commands[:index], words[kind](), *commands[index:]]


def _no_command(generator: np.random.Generator, all_known: Mapping[int, Command]) -> list[int]:
    known = list(BY_WORD)
    word = int(known[int(generator.integers(len(known)))]) ^ 1 << int(generator.integers(32))
    return [word if word not in all_known else 0]


def _bad_parameter(generator: np.random.Generator, outputs: int) -> list[int]:
    reserved, tiled = pack(FORMAT, pitch=4, format=5), pack(FORMAT, tiling=1)
    word = {name: BY_NAME[name].word for name in BY_NAME}
    bad = [
        [word["set_inp_fmt"], 3, 0, reserved, 1],
        [word["set_out_fmt"], 3, 0, reserved, 1],
        [word["set_out_fmt"], max(outputs, 4 + int(generator.integers(12))), 0, pack(FORMAT, pitch=4), 1],
        [word["set_cond_out_fmt"], 0, reserved, 1],
        [word["set_inst_fmt"], 0, 1 << int(generator.integers(32))],
        [word["set_constf_fmt"], 0, tiled],
        [word["set_consti_fmt"], 0, tiled],
        [word["set_constb_fmt"], 0, tiled],
    ]
    return bad[int(generator.integers(len(bad)))]


def _wrong_conditional_format() -> CommandBuffer:
    buffer = CommandBuffer().append("set_cond_out_fmt", 0, pack(FORMAT, pitch=8, format=4), 1)
    return buffer.append("set_cond_test", 1).start_program()


def error_ranges(generator: np.random.Generator, ranges_of_lines: list[range]) -> list[tuple[int, int]]:
    """Ranges of memory that responds with errors: a few of the first of those lines."""
    ranges = []
    for _ in range(int(generator.integers(1, 4))):
        lines = ranges_of_lines[int(generator.integers(len(ranges_of_lines)))]
        line = lines[int(min(len(lines) - 1, generator.geometric(0.1) - 1))]
        end = min(line + int(generator.integers(1, 3)), lines.stop)
        ranges.append((_LINE * line, _LINE * end))
    return ranges
