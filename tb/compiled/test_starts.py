"""Initial values: memories are zero, constant fields of signals have their value."""

import shutil
import subprocess
from pathlib import Path

import pytest

from ctm.sim.compiled.rewriting.starts import with_starts
from ctm.sim.compiled.verilog import convert
from ctm.tb.compiled.components import PartlyConstant

_BENCH = """
module bench;
  reg [3:0] value = 4'h6;
  wire [7:0] result;
  unit unit (.value(value), .result(result));
  initial begin
    #1 $write("%b ", result);
    value = 4'h7;
    #1 $display("%b", result);
  end
endmodule
"""


def test_zeros_are_written_in_a_loop_whose_counter_hides_nothing() -> None:
    rows = "".join(f"    rows[{row}] = 6'h00;\n" for row in range(8))
    row = "\\rows$row "
    assert with_starts(f"module a;\n  initial begin\n{rows}  end\nendmodule\n") == (
        f"module a;\n  integer {row};\n"
        f"  initial for ({row}= 0; {row}< 8; {row}= {row}+ 1) rows[{row}] = 0;\nendmodule\n"
    )


def test_a_block_that_reads_nothing_is_given_something_to_read() -> None:
    block = "  always @*\n    early[50] = 1'h0;\n"
    assert with_starts(f"module a;\n{block}endmodule\n") == (
        "module a;\n  reg \\at_start ;\n  initial \\at_start  <= 1'h0;\n"
        "  always @* begin\n    if (\\at_start ) begin end\n    early[50] = 1'h0;\n  end\nendmodule\n"
    )


@pytest.mark.parametrize("language", ["-g2005", "-g2009", "-g2012"])
def test_constant_bits_have_their_value_in_icarus(language: str, tmp_path: Path) -> None:
    if shutil.which("iverilog") is None:
        pytest.skip("iverilog is not installed")
    (tmp_path / "unit.v").write_text(convert(PartlyConstant(), top="unit") + _BENCH)
    subprocess.run(["iverilog", language, "-o", "bench", "unit.v"], cwd=tmp_path, check=True)
    printed = subprocess.run(["vvp", "-n", "bench"], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert printed.stdout.split() == ["10000001", "10001111"]
