"""Modules whose instances share their code: which ones they are, and that they compute what they did."""

import ctypes
from collections.abc import Sequence

import pytest

from ctm.sim.compiled.tools import apart, toolchain
from ctm.sim.compiled.tools.apart import shared_modules

LARGE = 4_000
"""Lines."""
STEPS = """
module step(clk, value, next);
  input clk;
  input [31:0] value;
  output [31:0] next;
  reg [31:0] count = 32'd5;
  always @(posedge clk) count <= count * 32'd3 + value;
  assign next = value ^ count;
endmodule
module top(clk, value, result);
  input clk;
  input [31:0] value;
  output [31:0] result;
  wire [31:0] between;
  step first (
    .clk(clk), .value(value), .next(between)
  );
  step second (
    .clk(clk), .value(between), .next(result)
  );
endmodule
"""
WRAPPER = """
{headers}
extern "C" __attribute__((visibility("default"))) unsigned call(unsigned value, int cycles) {{
    VerilatedContext context;
    Vtop model{{&context}};
    model.value = value;
    model.eval();
    for (int edge = 1; edge <= 2 * cycles; edge++) {{
        model.clk = edge & 1;
        model.eval();
    }}
    return model.result;
}}
"""


def module(name: str, inside: Sequence[str] = (), lines: int = 0) -> str:
    """A module with instances of others, as long as that."""
    instances = "".join(f"  {inner} unit_{number} (\n  );\n" for number, inner in enumerate(inside))
    return f"module {name}();\n{instances}{'  // more' * bool(lines)}{chr(10) * lines}endmodule\n"


def test_of_large_modules_with_several_instances_the_innermost_share() -> None:
    verilog = (
        module("slot", lines=LARGE)
        + module("lane", ["slot", "slot"])
        + module("machine", ["lane", "lane"])
        + module("top", ["machine"])
    )
    assert shared_modules(verilog, "top") == ["slot"]


@pytest.mark.parametrize(
    ("inner", "lanes"),
    [(module("slot", lines=LARGE // 4), 2), (module("slot", lines=LARGE), 1)],
    ids=["small", "one instance"],
)
def test_others_do_not(inner: str, lanes: int) -> None:
    verilog = inner + module("lane", ["slot"]) + module("top", ["lane"] * lanes)
    assert shared_modules(verilog, "top") == []


def test_what_is_in_a_module_counts() -> None:
    verilog = (
        module("slot", lines=LARGE // 4) + module("lane", ["slot"] * 3 + ["unknown"]) + module("top", ["lane"] * 2)
    )
    assert shared_modules(verilog, "top") == ["lane"]


def reference(value: int, cycles: int) -> int:
    """What `STEPS` computes."""
    first = second = 5
    for _ in range(cycles):
        first, second = first * 3 + value, second * 3 + (value ^ first)
    return (value ^ first ^ second) % (1 << 32)


@pytest.mark.parametrize(
    ("least", "headers"), [(1_000, ["Vtop.h"]), (5, ["Vtop.h", "Vtop_step.h"])], ids=["copies", "shared"]
)
def test_their_instances_are_still_different(least: int, headers: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "_LEAST_LINES", least)
    # Of a module without code of its own there is no header.
    wrapper = WRAPPER.format(headers="\n".join(f'#include "{header}"' for header in headers))
    library = ctypes.CDLL(str(toolchain.build(toolchain.Model("top", STEPS), wrapper)))
    library.call.restype = ctypes.c_uint
    for value in (0, 1, 0xDEADBEEF):
        assert [library.call(value, cycles) for cycles in range(6)] == [reference(value, n) for n in range(6)]
