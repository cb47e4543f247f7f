"""Outputs of resting units stay variables; those of other modules are left alone."""

from ctm.sim.compiled.rewriting.resting import with_kept_results


def test_outputs_of_resting_units_are_kept() -> None:
    lines = "  output [3:0] x;", "  wire [3:0] x;", "  output y$1;", "  wire resting_clk;", "  input z;", "endmodule"
    gated = "\n".join(("module a(x, y);", *lines, ""))
    other = "module b(x);\n  output [3:0] x;\n  wire pausing_clk;\nendmodule\n"
    kept = "/*verilator public_flat_rd*/"
    assert with_kept_results(other + gated + other) == (
        other
        + gated.replace("output [3:0] x;", f"output [3:0] x {kept};").replace("output y$1;", f"output y$1 {kept};")
        + other
    )
