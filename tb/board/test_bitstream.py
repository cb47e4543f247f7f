"""From a design to a bitstream, on a board without a machine, and what ``ctm bitstream`` rejects."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ctm.rtl.board.bridge import BridgeConfig
from ctm.sim.boards.bitstream import BitstreamError, bitstream, placed
from ctm.sim.boards.header import Header
from ctm.sim.boards.target import TARGETS
from ctm.sim.cli import bitstream as command
from ctm.sim.compiled import ToolchainError
from ctm.sim.compiled.tools.package import BOARDS, FPGA_NEXTPNR, FPGA_YOSYS, LITEDRAM
from ctm.sim.synthesis.placing import Placer, UnroutedError
from ctm.sim.synthesis.report import CriticalPath, Placement
from ctm.tb.board.memory_board import memory_design
from ctm.tb.cli.invocation import error_line

needs_board = pytest.mark.skipif(
    not all(package.is_installed for package in (BOARDS, LITEDRAM, FPGA_YOSYS, FPGA_NEXTPNR)),
    reason="needs the extra board",
)
HEADER = """
#define CKE 0x02
#define ODT 0x04
static inline void command(int cmd)
{
	control_write(cmd);
	issue_write(1);
}
static inline void start(void)
{
	/* Bring CKE high (or not) */
	control_write(CKE|ODT);
	cdelay(200);
	command(0x8|CKE);
	cdelay(4);
	cdelay(5);
}
static inline void strange(void)
{
	if (CKE) command(1);
}
"""
REGISTERS = {"control": 0x800, "issue": 0x804}


def test_the_start_of_memory_is_what_its_header_does() -> None:
    header = Header(HEADER, REGISTERS)
    steps = [(step.address, step.value, step.wait) for step in header.steps("start")]
    assert steps == [(0x800, 6, 200), (0x800, 10, 0), (0x804, 1, 9)]
    last = header.write("issue", "CKE")
    assert (last.address, last.value) == (0x804, 2)


@pytest.mark.parametrize(
    ("function", "registers", "what"),
    [("strange", REGISTERS, "if "), ("other", REGISTERS, "other"), ("start", {"control": 0}, "issue")],
)
def test_an_unknown_header_is_an_error(function: str, registers: dict[str, int], what: str) -> None:
    with pytest.raises(ToolchainError, match=f"'{what}.*is it another version"):
        Header(HEADER, registers).steps(function)


def test_a_baud_rate_that_the_clock_cannot_give_is_an_error() -> None:
    settings = {"frequency": 25_000_000, "memory_bytes": 32 << 20, "data_bits": 128, "fingerprint": 0}
    assert BridgeConfig(baud=921_600, **settings).period == 27
    with pytest.raises(ValueError, match="25000000 Hz gives no 3000000 baud, but 3125000"):
        BridgeConfig(baud=3_000_000, **settings)
    with pytest.raises(ValueError, match="the line is too fast"):
        BridgeConfig(baud=10_000_000, **settings)


def test_seeds_are_tried_until_one_is_routed_and_fast_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clocks = {4: 14.5, 5: None, 6: 15.25, 7: 20.0, 8: 30.0}

    def counted(placer: Placer, modules: Any, top: str, seed: int) -> Placement:
        frequency = clocks[seed]
        if frequency is None:
            raise UnroutedError("nextpnr does not route")
        path = CriticalPath(start="a", end="b", logic=1.0, routing=2.0, levels=3)
        return Placement(seed=seed, frequency=frequency, critical_path=path, hold_violations=3 * (seed == 8))

    def found(seeds: Sequence[int], slowest: float) -> int:
        design: Any = SimpleNamespace(target=TARGETS["ulx3s"], frequency=15_000_000, is_divided=True)
        return placed(design, {}, seeds, tmp_path, slowest, lambda text: None).seed

    monkeypatch.setattr(Placer, "with_sites", lambda placer, modules, top, seed: modules)
    monkeypatch.setattr(Placer, "place", counted)
    assert found([4, 5, 6, 7], 15.0) == 6
    assert found([5, 4, 6], 0.0) == 4
    assert found([8, 7], 15.0) == 7
    with pytest.raises(BitstreamError) as failure:
        found([4, 5, 8], 15.0)
    assert str(failure.value).splitlines() == [
        "with seed 4 the clock is 0.50 MHz too slow: 14.50 of 15 MHz",
        "with seed 5 nextpnr does not route",
        "with seed 8 3 paths are too short at any clock (hold time)",
        "try another --seed, a lower --frequency, or take a slow one with --allow-slow",
    ]


def test_an_unknown_board_is_an_error() -> None:
    assert "--board: there is no board 'breadboard'; there are ulx3s, tang-mega-138k" in error_line(
        "bitstream", "--board", "breadboard"
    )


def test_where_a_bitstream_goes_is_tried_before_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def made(*_: object, **__: object) -> None:
        raise AssertionError("the work has begun")

    monkeypatch.setattr(command, "require_packages", made)
    arguments = ("bitstream", "--board", "ulx3s", "-o")
    assert error_line(*arguments, tmp_path) == f"error: {tmp_path}: Is a directory\n"
    (tmp_path / "file").touch()
    assert "Not a directory" in error_line(*arguments, tmp_path / "file" / "ctm.bit")


@pytest.mark.long
@needs_board
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--serial-speed", "3000000"), "gives no 3000000 baud, but 2857143"),
        (("--frequency", "12"), "the board's clock can have 15, 20, 25, 30, 35 or 40 MHz, not 12"),
        (("--preset", "default"), "a board has one memory"),
        (("--work", "."), "it is there already"),
    ],
)
def test_an_impossible_request_is_an_error(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    assert message in error_line("bitstream", "--board", "ulx3s", "-o", tmp_path / "ctm.bit", *arguments)
    assert not (tmp_path / "ctm.bit").exists()


@pytest.mark.long
@needs_board
def test_a_board_becomes_a_bitstream_unless_its_clock_is_too_slow(tmp_path: Path) -> None:
    design = memory_design()
    told: list[str] = []
    made = bitstream(design, seeds=[1], folder=tmp_path, progress=told.append)
    assert b"Part: LFE5U-85F-6CABGA381" in made.content[:64]
    assert made.placement.frequency > made.wanted == 40
    assert 3000 < made.cells.luts < 5000
    assert any("router" in text or "iter=" in text for text in told)
    assert told[-1] == "packing"
    other = tmp_path / "other"
    other.mkdir()
    assert bitstream(memory_design(20_000_000), seeds=[1], folder=other).wanted == 20
    too_fast = tmp_path / "fast"
    too_fast.mkdir()
    with pytest.raises(BitstreamError, match=r"with seed 2 the clock is .* MHz too slow: .* of 200 MHz\ntry another"):
        bitstream(replace(design, frequency=200_000_000), seeds=[2], folder=too_fast)
