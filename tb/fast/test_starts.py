"""What is remembered of commands and starts changes nothing: whatever else changes in between is seen."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from ctm.rtl.isa.formats import DataFormat, Tiling
from ctm.sim.elf import write
from ctm.sim.engines.fast.engine import FastEngine
from ctm.sim.engines.fast.starts import Starts
from ctm.sim.engines.golden import GoldenEngine
from ctm.sim.fault import MachineError
from ctm.sim.golden.pe.state import State
from ctm.sim.runtime import CommandBuffer
from ctm.tb.fast.comparison import COMMANDS, machine
from ctm.tb.fast.tasks import COPY, ENDLESS, OTHER, OUTPUT, STORE_POSITION, SUM, Made
from ctm.tb.r5xx.machine import BOOLS, FLOATS, INTS, PROGRAM, move
from ctm.tb.r5xx.statements import fetch
from ctm.tb.system.memories import first_difference

SMALL = (1, 1, 40, 9)
PROGRAMS = [write(Made(program=program).executable) for program in (SUM, COPY, STORE_POSITION)]
MALFORMED = bytes(64)
WATCHDOG = 1000
_PAGE = 0x1000


class Both:
    """Engines `fast` and `golden`, which are given the same."""

    def __init__(self) -> None:
        self.engines = [engine(machine(4), watchdog=WATCHDOG) for engine in (FastEngine, GoldenEngine)]

    def write(self, address: int, data: bytes) -> None:
        for engine in self.engines:
            engine.memory.write(address, data)

    def run(self, commands: CommandBuffer, address: int = COMMANDS) -> str | None:
        """Both end as they should: the error, if it is one."""
        self.write(address, bytes(commands))
        fast, golden = (self._error(engine, address, len(commands.words)) for engine in self.engines)
        assert fast == golden
        differing = first_difference(*(engine.memory for engine in self.engines), ignored=set())
        assert differing is None, f"memory differs at 0x{differing:08x}"
        assert self.engines[0].report() == self.engines[1].report()
        return fast

    def _error(self, engine: Any, address: int, dwords: int) -> str | None:
        try:
            engine.execute(address, dwords)
        except MachineError as error:
            return str(error)
        return None


def beginning(made: Made) -> CommandBuffer:
    """What is set once."""
    commands = CommandBuffer().set_inst_fmt(PROGRAM).set_constf_fmt(FLOATS).set_consti_fmt(INTS).set_constb_fmt(BOOLS)
    return commands.set_inp_fmt(0, *made.words(OTHER)).set_out_fmt(0, *made.words(OUTPUT)).set_domain(*SMALL)


@pytest.fixture
def both() -> Both:
    result, made = Both(), Made(program=SUM)
    result.write(PROGRAM, PROGRAMS[0])
    for address, data in zip((FLOATS, INTS), made.constants, strict=True):
        result.write(address, data)
    return result


def count(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> list[None]:
    """Grows with each call."""
    calls, called = list[None](), getattr(owner, name)

    def counted(*arguments: Any) -> Any:
        calls.append(None)
        return called(*arguments)

    monkeypatch.setattr(owner, name, counted)
    return calls


def test_what_is_the_same_is_looked_at_once(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    commands = beginning(Made(program=SUM)).inv_inst_cache().inv_inp_cache().start_program().flush_out_cache()
    for at in range(2):
        assert both.run(commands, COMMANDS + 0x1000 * at) is None
    launches, fast = count(monkeypatch, Starts, "launch"), both.engines[0]
    applied = count(monkeypatch, State, "apply")
    for address in (COMMANDS, COMMANDS + 0x5000):
        fast.memory.write(address, bytes(commands))
        fast.execute(address, len(commands.words))
    assert not launches and not applied


def change_memory(generator: np.random.Generator, both: Both) -> None:
    """Constants, or a program, which may be none."""
    floats, rounds = generator.integers(1, 5, 16).astype("<f4"), int(generator.integers(9))
    changes = [
        (FLOATS, floats.tobytes()), (INTS, bytes([rounds, 0, 1, 0])),
        *((PROGRAM, program) for program in (*PROGRAMS, MALFORMED)),
    ]  # fmt: skip
    both.write(*changes[generator.integers(len(changes))])


def change_state(generator: np.random.Generator, made: Made) -> CommandBuffer:
    """A command that changes something, or nothing."""
    few, column = int(generator.integers(3)), int(generator.integers(-1, 50)) & 0xFFF
    bases = [OTHER, OUTPUT]
    generator.shuffle(bases)
    changes = [
        ("inv_inst_cache", 0), ("set_inst_fmt", PROGRAM, 0), ("set_out_mask", 15 - few), ("set_cond_test", few),
        ("set_cond_loc", few % 2), ("set_cond_out_mask", few % 2), ("set_cond_out_fmt", *made.words(0x40_0000)),
        ("set_inp_fmt", 0, *made.words(bases[0])), ("set_out_fmt", 0, *made.words(bases[1])),
        ("set_cond_val", few << 28), ("set_domain", 0, 0, column, 7),
    ]  # fmt: skip
    name, *parameters = changes[generator.integers(len(changes))]
    return CommandBuffer().append(str(name), *map(int, parameters))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 6))])
def test_random_changes(both: Both, seed: int) -> None:
    generator = np.random.default_rng(seed)
    formats = [(DataFormat.FLOAT32_1, Tiling.LINEAR), (DataFormat.FLOAT32_4, Tiling.TILED)]
    both.write(OTHER, generator.bytes(0x4000))
    both.run(beginning(Made(program=SUM)))
    for _ in range(150):
        data_format, tiling = formats[int(generator.random() < 0.1)]
        made = Made(program=SUM, format=data_format, tiling=tiling)
        commands = CommandBuffer()
        if generator.random() < 0.2:
            change_memory(generator, both)
        if generator.random() < 0.4:
            commands = change_state(generator, made)
        if generator.random() < 0.5:
            commands.inv_inp_cache().inv_constf_cache()
        both.run(commands.start_program().flush_out_cache(), COMMANDS + 0x1000 * int(generator.integers(3)))


def test_a_start_that_fails_fails_again(both: Both) -> None:
    commands = beginning(Made(program=SUM)).start_program().flush_out_cache()
    assert both.run(commands) is None
    both.write(PROGRAM, MALFORMED)
    assert all(both.run(commands) is not None for _ in range(3))
    both.write(PROGRAM, write(Made(program=ENDLESS).executable))
    assert all("WATCHDOG" in str(both.run(commands)) for _ in range(3))
    both.write(PROGRAM, PROGRAMS[0])
    assert both.run(commands) is None


def test_memory_that_responds_with_errors_from_some_time_on(both: Both) -> None:
    commands = beginning(Made(program=SUM)).start_program().flush_out_cache()
    assert [both.run(commands) for _ in range(3)] == [None] * 3
    for engine in both.engines:
        engine.memory.respond_with_errors(INTS, INTS + 4)
    assert "BUS_ERROR" in str(both.run(commands))


def test_a_program_that_writes_the_commands_after_its_start(both: Both) -> None:
    """Each time the buffer is the same again, and what is copied over its end is not."""
    program = [fetch(destination=1), move(0, 1, output=0)]
    both.write(PROGRAM, write(Made(program=program).executable))
    made = Made(program=program, size=(64, 1))

    def end(column: int) -> Sequence[int]:
        return CommandBuffer().set_out_fmt(0, *made.words(OUTPUT)).set_domain(0, 0, column, 0).start_program().words

    commands = beginning(made).set_domain(0, 0, len(end(0)) - 1, 0).set_constb_fmt(BOOLS)
    # A row of the output begins where the end does, at a multiple of what bases are.
    tail = CommandBuffer().set_out_fmt(0, *made.words(COMMANDS + _PAGE)).start_program()
    while len(commands.words) + len(tail.words) < _PAGE // 4:
        commands.inv_inp_cache()
    commands.words += tail.words
    assert len(commands.words) == _PAGE // 4
    commands.words += end(3)
    for column in (5, 9, 5, 7, 7, 9, 3):
        both.write(OTHER, np.array(end(column), "<u4").tobytes())
        both.write(OUTPUT, bytes(0x100))
        assert both.run(commands) is None
        assert np.flatnonzero(both.engines[0].memory.words(OUTPUT, 64)).size <= column + 1


def test_a_program_that_is_loaded_after_a_failure_is_not_taken_for_the_malformed_one(both: Both) -> None:
    start = CommandBuffer().start_program().flush_out_cache()
    again = CommandBuffer().inv_inst_cache().start_program().flush_out_cache()
    both.run(beginning(Made(program=SUM)))
    both.write(PROGRAM, MALFORMED)
    failure = both.run(start)
    assert failure is not None
    both.write(PROGRAM, PROGRAMS[0])
    assert both.run(start) is None
    both.write(PROGRAM, MALFORMED)
    assert both.run(again) is not None
