"""One ALU or OUTPUT instruction on one quad, in plain integers straight from the words: a second opinion.

Nothing is shared with the model but the scalar arithmetic; operations go by the numbers of the register reference.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ctm.rtl.isa.r5xx.instruction import ALPHA_ADDR, ALPHA_INST, COMMON, RGB_ADDR, RGB_INST, RGBA_INST, inline_constant
from ctm.rtl.isa.word import unpack
from ctm.tb.golden import scalar

LITERALS = {4: 0x00000000, 5: 0x3F000000, 6: 0x3F800000}
COLORS = ("red", "green", "blue")
RGB_NAMES = {0: "MAD", 1: "DP3", 2: "DP4", 3: "D2A", 4: "MIN", 5: "MAX", 7: "CND", 8: "CMP", 9: "FRC", 10: "SOP",
             11: "MDH", 12: "MDV"}  # fmt: skip
ALPHA_NAMES = {0: "MAD", 1: "DP", 2: "MIN", 3: "MAX", 5: "CND", 6: "CMP", 7: "FRC", 8: "EX2", 9: "LN2", 10: "RCP",
               11: "RSQ", 12: "SIN", 13: "COS", 14: "MDH", 15: "MDV"}  # fmt: skip


@dataclass
class Pixel:
    """State of one pixel; numbers are 32-bit words."""

    temporaries: list[list[int]]
    predicates: list[bool]
    active: bool
    alu_result: bool = False
    outputs: dict[tuple[int, int], int] = field(default_factory=dict)
    conditional: int = 0


@dataclass(frozen=True)
class Context:
    """What is the same for all pixels."""

    constants: Sequence[Sequence[int]]
    loop_index: int
    zero_times_anything: bool


class Instruction:
    """The fields of an instruction's six words."""

    def __init__(self, words: Sequence[int]) -> None:
        layouts = (COMMON, RGB_ADDR, ALPHA_ADDR, RGB_INST, ALPHA_INST, RGBA_INST)
        fields = [unpack(layout, word) for layout, word in zip(layouts, words, strict=True)]
        self.common, self.rgb_addr, self.alpha_addr, self.rgb, self.alpha, self.both = fields

    def source(self, pixel: Pixel, context: Context, number: int, channel: int) -> int:
        """Channel 0 to 3 of src0, src1 or src2."""
        fields = self.alpha_addr if channel == 3 else self.rgb_addr
        address, offset = fields[f"addr{number}"], context.loop_index * fields[f"addr{number}_rel"]
        if fields[f"addr{number}_const"]:
            return context.constants[(address + offset) % 256][channel]
        if address & 0x80:
            return int(np.float32(inline_constant(address & 0x7F)).view(np.uint32))
        index = (address + offset) % 128
        return pixel.temporaries[index][channel] if index < len(pixel.temporaries) else 0

    def operand(self, pixel: Pixel, context: Context, name: str, channel: int) -> int:
        """Operand a, b or c of a channel."""
        fields = self.both if name == "c" else self.alpha if channel == 3 else self.rgb
        unit = "" if name != "c" else "alpha_" if channel == 3 else "rgb_"
        swizzle = fields[f"{unit}swiz_{name}"] if channel == 3 else fields[f"{COLORS[channel]}_swiz_{name}"]
        select = fields[f"{unit}sel_{name}"]
        if swizzle in LITERALS:
            value = LITERALS[swizzle]
        elif select < 3:
            value = self.source(pixel, context, select, swizzle)
        else:
            addresses = self.alpha_addr if swizzle == 3 else self.rgb_addr
            first, second = (self.source(pixel, context, number, swizzle) for number in (0, 1))
            value = scalar.presubtract(addresses["srcp_op"], first, second)
        return scalar.input_modifier(value, fields[f"{unit}mod_{name}"])

    def raw(self, quad: Sequence[Pixel], lane: int, context: Context, channel: int) -> int:
        """The result of a channel's operation before the output modifier."""
        name = ALPHA_NAMES[self.alpha["op"]] if channel == 3 else RGB_NAMES[self.both["rgb_op"]]
        if name == "SOP":
            return self.raw(quad, lane, context, 3)
        if name == "DP":
            return self.raw(quad, lane, context, 0)

        def operand(letter: str, channel_: int = channel) -> int:
            return self.operand(quad[lane], context, letter, channel_)

        rule = context.zero_times_anything
        if name in ("DP3", "DP4", "D2A"):
            channels = {"DP3": (0, 1, 2), "DP4": (0, 1, 2, 3), "D2A": (0, 1)}[name]
            addend = operand("c", 2) if name == "D2A" else None
            first = [operand("a", p) for p in channels]
            if name == "DP4" and ALPHA_NAMES[self.alpha["op"]] in ("MDH", "MDV"):
                first[3] = self.of_quad(quad, 0, context, "a", 3)
            return scalar.dot(first, [operand("b", p) for p in channels], addend, rule)
        if name in ("MDH", "MDV"):
            a, c = (
                self.of_quad(quad, other, context, letter, channel)
                for letter, other in (("a", 0), ("c", 1 if name == "MDH" else 2))
            )
            return scalar.multiply_add(a, operand("b"), c, rule)
        if name == "MAD":
            return scalar.multiply_add(operand("a"), operand("b"), operand("c"), rule)
        functions: dict[str, Callable[..., int]] = {
            "MIN": scalar.minimum, "MAX": scalar.maximum, "CND": scalar.select_above_half,
            "CMP": scalar.select_not_negative,
        }  # fmt: skip
        if name in functions:
            letters = "ab" if name in ("MIN", "MAX") else "abc"
            return functions[name](*(operand(letter) for letter in letters))
        function = scalar.fraction if name == "FRC" else getattr(scalar, name.lower())
        return function(operand("a"))

    def of_quad(self, quad: Sequence[Pixel], lane: int, context: Context, letter: str, channel: int) -> int:
        """A derivative's operand: src0 of a lane of the quad, with the operand's modifier."""
        return scalar.input_modifier(self.source(quad[lane], context, 0, channel), self.modifier(letter, channel))

    def modifier(self, letter: str, channel: int) -> int:
        """The input modifier of an operand."""
        fields = self.both if letter == "c" else self.alpha if channel == 3 else self.rgb
        unit = "" if letter != "c" else "alpha_" if channel == 3 else "rgb_"
        return fields[f"{unit}mod_{letter}"]

    def result(self, quad: Sequence[Pixel], lane: int, context: Context, channel: int) -> int:
        """The result after output modifier and clamp."""
        value = self.raw(quad, lane, context, channel)
        modifier = (self.alpha if channel == 3 else self.rgb)["omod"]
        if modifier == 7:
            return value
        value = scalar.output_modifier(value, modifier)
        return scalar.clamp(value) if self.common["alpha_clamp" if channel == 3 else "rgb_clamp"] else value

    def passes(self, pixel: Pixel, channel: int) -> bool:
        """Whether the predicate of a channel's unit lets it write."""
        unit = "alpha" if channel == 3 else "rgb"
        select, inverted = self.common[f"{unit}_pred_sel"], bool(self.common[f"{unit}_pred_inv"])
        bit = True if select == 0 else pixel.predicates[channel if select == 1 else select - 2]
        return bit != inverted

    def execute(self, quad: Sequence[Pixel], context: Context) -> None:
        """Execute the instruction on a quad; both units read before either writes."""
        results = [[self.result(quad, lane, context, channel) for channel in range(4)] for lane in range(4)]
        gates = [[self.passes(pixel, channel) for channel in range(4)] for pixel in quad]
        for pixel, values, gate in zip(quad, results, gates, strict=True):
            self.write(pixel, context, values, gate)

    def write(self, pixel: Pixel, context: Context, values: Sequence[int], gate: Sequence[bool]) -> None:
        """Write the results of one pixel."""
        is_output = self.common["type"] == 1
        wmask = self.common["rgb_wmask"] | self.common["alpha_wmask"] << 3
        omask = self.common["rgb_omask"] | self.common["alpha_omask"] << 3
        for channel in range(4):
            allowed = gate[channel] and (pixel.active or bool(self.common["write_inactive"]))
            strict = gate[channel] and pixel.active
            unit = self.alpha if channel == 3 else self.rgb
            if wmask >> channel & 1 and allowed:
                address = self.alpha["addrd"] if channel == 3 else self.both["rgb_addrd"]
                relative = self.alpha["addrd_rel"] if channel == 3 else self.both["rgb_addrd_rel"]
                index = (address + context.loop_index * relative) % 128
                if index < len(pixel.temporaries):
                    pixel.temporaries[index][channel] = values[channel]
            if omask >> channel & 1 and is_output and strict:
                pixel.outputs[unit["target"], channel] = values[channel]
            if omask >> channel & 1 and not is_output and allowed:
                pixel.predicates[channel] = scalar.test_zero(values[channel], unit["target"])
            selected = 3 * self.common["alu_result_sel"]
            if self.rgb["alu_wmask"] and not is_output and channel == selected and strict:
                pixel.alu_result = scalar.test_zero(values[channel], self.common["alu_result_op"])
            if self.alpha["w_omask"] and is_output and channel == 3 and strict:
                pixel.conditional = values[3]
