"""The golden array on an invented instruction set: batches, launches, faults, endless loops and observers."""

from collections.abc import Sequence

import numpy as np
import pytest

from ctm.rtl.config import ArrayConfig
from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.status import BusClient, Status
from ctm.sim.elf.container.writer import write_container
from ctm.sim.fault import MachineError
from ctm.sim.golden.instruction_sets import INSTRUCTION_SETS
from ctm.sim.golden.machine import Machine
from ctm.sim.memory import Memory
from ctm.sim.runtime import CommandBuffer, Image, Layout
from ctm.tb.golden.invented import INSTRUCTION_SET, Batch, Op
from ctm.tb.lib.program_formats import FORMAT, INFORMATION, INVENTED, invent

PROGRAM, FLOATS, BUFFER, OUTPUT = 0x10000, 0x20000, 0x30000, 0x40000
WIDTH, HEIGHT, LANES = 12, 2, 4
GROUPS = WIDTH // 2
ROUND = [(Op.ADD, 2), (Op.UNLESS, 4), (Op.ADD, 10), (Op.JOIN, 0)]


@pytest.fixture(autouse=True)
def invented(monkeypatch: pytest.MonkeyPatch) -> None:
    invent(monkeypatch)
    monkeypatch.setitem(INSTRUCTION_SETS, INVENTED, INSTRUCTION_SET)


class Watcher:
    """Everything that groups do, by their positions in the domain walk."""

    def __init__(self) -> None:
        self.executed_at: list[tuple[int, list[list[int]]]] = []
        self.faults: list[tuple[list[int], Status, BusClient | None]] = []
        self.ends: list[list[int]] = []

    def executed(self, pc: int, batches: Sequence[Batch]) -> None:
        self.executed_at.append((pc, [batch.order.tolist() for batch in batches]))

    def faulted(self, batch: Batch, status: Status, client: BusClient | None) -> None:
        self.faults.append((batch.order.tolist(), status, client))

    def ended(self, batch: Batch) -> None:
        self.ends.append(batch.order.tolist())


class Work:
    """A machine with invented cores and a program on a domain of six groups."""

    def __init__(self, code: Sequence[tuple[Op, int]], *, watchdog: int = 0) -> None:
        self.memory, self.watcher = Memory(), Watcher()
        array = ArrayConfig(instruction_set=INVENTED, lanes=LANES)
        self.machine = Machine(array, self.memory, watchdog=watchdog, observers=[self.watcher])
        units = [(operation.value, number) for operation, number in code]
        notes = [(FORMAT.information, INFORMATION)]
        self.memory.write(PROGRAM, write_container(units, notes, machine=FORMAT.machine))
        layout = Layout(width=WIDTH, height=HEIGHT, format=DataFormat.FLOAT32_1)
        self.image = Image(memory=self.memory, base=OUTPUT, layout=layout)

    def run(self) -> np.ndarray:
        """The first row of the output."""
        layout = self.image.layout
        commands = CommandBuffer().set_inst_fmt(PROGRAM).set_constf_fmt(FLOATS)
        commands.set_out_fmt(0, OUTPUT, layout.format_word, layout.height)
        commands.set_domain(0, 0, WIDTH - 1, HEIGHT - 1).start_program()
        self.memory.write(BUFFER, bytes(commands))
        self.machine.run(BUFFER, len(commands.words))
        return self.image.read()[0]

    def error(self) -> MachineError:
        with pytest.raises(MachineError) as caught:
            self.run()
        return caught.value


def test_groups_that_decide_differently_diverge_and_reconverge() -> None:
    work = Work([*ROUND, (Op.AGAIN, 0), (Op.STOP, 0)])
    expected = np.arange(WIDTH, dtype=np.float32)
    for pair in expected.reshape(-1, 2):
        rounds = 0
        while rounds == 0 or (pair < 8).any():
            pair += 2
            pair[pair >= 4] += 10
            rounds += 1
    assert np.array_equal(work.run().ravel(), expected)
    # Those that left the loop waited for the others.
    assert [sorted(groups) for groups in work.watcher.ends] == [list(range(GROUPS))]
    assert any(len(orders) == 2 for _, orders in work.watcher.executed_at)


def test_instructions_are_counted_by_the_names_of_their_units() -> None:
    work = Work([(Op.ADD, 1), (Op.UNLESS, 3), (Op.ADD, 1), (Op.STOP, 0)])
    work.run()
    counters = work.machine.counters
    issued = dict.fromkeys((operation.name for operation in Op), 0)
    assert counters.issued == issued | {"ADD": 2 * GROUPS, "UNLESS": GROUPS, "STOP": GROUPS}
    # The two columns below 2 are not active any more.
    assert counters.lane_instructions == 4 * GROUPS * LANES - 2 * 2 * HEIGHT


def test_a_fault_has_the_pc_that_the_instruction_set_gives() -> None:
    work = Work([(Op.ADD, 1), (Op.WRONG, 0)])
    error = work.error()
    assert (error.status, error.pc, error.i, error.j) == (Status.ILLEGAL_INSTRUCTION, 101, 0, 0)
    assert work.watcher.faults == [(list(range(GROUPS)), Status.ILLEGAL_INSTRUCTION, None)]
    assert not work.watcher.ends
    work.machine.reset()
    assert work.error().pc == 101


def test_a_failing_constant_is_a_bus_error_of_its_client() -> None:
    work = Work([(Op.CONSTANT, 3), (Op.STOP, 0)])
    work.memory.write(FLOATS + 48, np.float32(0.5).tobytes())
    assert np.array_equal(work.run().ravel(), np.arange(WIDTH) + 0.5)
    work.memory.respond_with_errors(FLOATS + 48, FLOATS + 52)
    error = work.error()
    assert (error.status, error.client, error.address) == (Status.BUS_ERROR, BusClient.FLOAT_CONSTANT, FLOATS + 48)


@pytest.mark.parametrize("watchdog", [1, 7, 1_000_000_007])
def test_an_endless_loop_ends_with_the_counters_of_executing_it(watchdog: int) -> None:
    work = Work([(Op.ADD, 0), (Op.JOIN, 0), (Op.FOREVER, 0)], watchdog=watchdog)
    assert work.error().status is Status.WATCHDOG
    assert work.machine.counters.instructions == watchdog * GROUPS
    assert work.machine.counters.issued["ADD"] == -(-watchdog // 3) * GROUPS
    assert len(work.watcher.executed_at) < 10_000


def test_a_program_of_another_kind_is_an_error() -> None:
    work = Work([(Op.STOP, 0)])
    work.machine = Machine(ArrayConfig(lanes=LANES), work.memory)
    error = work.error()
    assert error.status is Status.BAD_EXECUTABLE
    assert "a program for invented, and this machine's cores are r5xx" in error.detail
