"""R5xx programs with instructions for cells of the table of operations, one after another at their start."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from ctm.rtl.isa.limits import TEMPORARIES
from ctm.rtl.isa.r5xx.instruction import (
    ADDRESS_INLINE,
    ALPHA_ADDR,
    ALPHA_INST,
    RGB_ADDR,
    RGB_INST,
    RGBA_INST,
)
from ctm.rtl.isa.r5xx.opcodes import (
    AlphaOperation,
    OutputModifier,
    PredicateSelect,
    Presubtract,
    RgbOperation,
    Select,
    Swizzle,
)
from ctm.rtl.isa.r5xx.operations import ALPHA, RGB, RGB_DOT_PRODUCTS, TRANSCENDENTALS, Arithmetic
from ctm.rtl.isa.word import replace, unpack
from ctm.sim.golden.r5xx.instruction import ALPHA as ALPHA_CHANNEL
from ctm.tb.r5xx.random_cases import Case, random_case
from ctm.tb.r5xx.random_programs import Program

_COMMON, _RGB_ADDR, _ALPHA_ADDR, _RGB_INST, _ALPHA_INST, _BOTH = range(6)
_ADDRESSES = {_RGB_ADDR: RGB_ADDR, _ALPHA_ADDR: ALPHA_ADDR}
_COLORS = ("red", "green", "blue")
_LITERALS = (Swizzle.ZERO.value, Swizzle.HALF.value, Swizzle.ONE.value)
_FETCH_SHARE = 0.1
"""Of the instructions, those that a fetch precedes."""


@dataclass(frozen=True)
class Aim:
    """A cell: an operation of a unit, its output modifier, what one of its operands is, and the unit's predicate."""

    arithmetic: Arithmetic
    is_alpha: bool
    modifier: OutputModifier
    operand: str
    select: PredicateSelect
    inverted: bool

    @classmethod
    def of(cls, cell: str) -> "Aim":
        """The aim of a cell of the table."""
        head, modifier, operand, predicate = cell.split(" / ")
        unit, name = head.split()
        is_alpha = unit == "alpha"
        arithmetic = ALPHA[AlphaOperation[name]] if is_alpha else RGB[RgbOperation[name]]
        *inverse, select = predicate.split()
        return cls(
            arithmetic, is_alpha, OutputModifier[modifier], operand, PredicateSelect[select], bool(inverse)
        )  # fmt: skip


class AimedProgram(Program):
    """A random program that begins with an instruction for each cell; `cells` are of the table of operations."""

    def __init__(
        self, generator: np.random.Generator, *, cells: list[str], size: int, full: bool, uncached: bool
    ) -> None:
        self._aims = [Aim.of(cell) for cell in cells]
        self._aim: Aim | None = None
        self._source: tuple[int, int] | None = None
        super().__init__(generator, size=size, full=full, uncached=uncached)

    def _diverge(self) -> None:
        """See `Program._diverge`; what is aimed comes after it, before anything can jump or fault."""
        super()._diverge()
        for aim in self._aims:
            if self._chance(_FETCH_SHARE):
                self._fetch()
            self._aim = aim
            self._arithmetic()
            self._aim = None

    def _words(self) -> list[int]:
        words, aim = super()._words(), self._aim
        self._source = None
        if aim is not None:
            self._operate(words, aim)
            if aim.arithmetic.reads:
                self._read(words, aim)
        return words

    def _operate(self, words: list[int], aim: Aim) -> None:
        """Set operation and output modifier, and let the other unit have an operation that may stand beside it."""
        rgb = RgbOperation(unpack(RGBA_INST, words[_BOTH])["rgb_op"])
        alpha = AlphaOperation(unpack(ALPHA_INST, words[_ALPHA_INST])["op"])
        if aim.is_alpha:
            assert aim.arithmetic.alpha is not None
            alpha = aim.arithmetic.alpha
            if alpha is AlphaOperation.DP and rgb not in RGB_DOT_PRODUCTS:
                rgb = RGB_DOT_PRODUCTS[self._choose(range(len(RGB_DOT_PRODUCTS)))]
            elif rgb is RgbOperation.SOP and alpha not in TRANSCENDENTALS:
                rgb = RgbOperation.MAD
        else:
            assert aim.arithmetic.rgb is not None
            rgb = aim.arithmetic.rgb
            if rgb is RgbOperation.SOP and alpha not in TRANSCENDENTALS:
                alpha = TRANSCENDENTALS[self._choose(range(len(TRANSCENDENTALS)))]
            elif alpha is AlphaOperation.DP and rgb not in RGB_DOT_PRODUCTS:
                alpha = AlphaOperation.MAD
        modifiers = {
            _RGB_INST: (RGB_INST, RGB[rgb].copies_bits, not aim.is_alpha),
            _ALPHA_INST: (ALPHA_INST, ALPHA[alpha].copies_bits, aim.is_alpha),
        }  # fmt: skip
        for index, (layout, copies, is_aimed) in modifiers.items():
            modifier = unpack(layout, words[index])["omod"]
            if is_aimed:
                modifier = aim.modifier.value
            elif modifier == OutputModifier.DISABLED.value and not copies:
                modifier = OutputModifier.U1.value
            words[index] = replace(layout, words[index], omod=modifier)
        words[_ALPHA_INST] = replace(ALPHA_INST, words[_ALPHA_INST], op=alpha.value)
        words[_BOTH] = replace(RGBA_INST, words[_BOTH], rgb_op=rgb.value)

    def _read(self, words: list[int], aim: Aim) -> None:
        """Let one channel of one operand be what is aimed at."""
        name = "abc"[self._choose(["abc".index(each) for each in aim.arithmetic.reads])]
        channels = aim.arithmetic.addends if name == "c" else aim.arithmetic.products
        color = _COLORS[self._choose([each for each in channels or range(ALPHA_CHANNEL) if each < ALPHA_CHANNEL])]
        is_literal, is_presubtract = aim.operand == "literal", aim.operand.startswith("presubtract")
        swizzle = self._choose(_LITERALS) if is_literal else self._choose(range(4))
        select = Select.SRCP.value if is_presubtract else self._choose(range(3))
        index, layout = (_ALPHA_INST, ALPHA_INST) if aim.is_alpha else (_RGB_INST, RGB_INST)
        prefix = ""
        if name == "c":
            index, layout, prefix = _BOTH, RGBA_INST, "alpha_" if aim.is_alpha else "rgb_"
        swizzled = f"{prefix}swiz_{name}" if aim.is_alpha else f"{color}_swiz_{name}"
        words[index] = replace(layout, words[index], **{f"{prefix}sel_{name}": select, swizzled: swizzle})
        if is_literal:
            return
        # A channel of the alpha unit is read where that unit's addresses say.
        at = _ALPHA_ADDR if swizzle == ALPHA_CHANNEL else _RGB_ADDR
        if is_presubtract:
            form = Presubtract[aim.operand.split()[1]].value
            words[at] = replace(_ADDRESSES[at], words[at], srcp_op=form)
            return
        self._source = at, select
        words[at] = replace(_ADDRESSES[at], words[at], **self._address(aim.operand.split()[-1], select))

    def _address(self, bank: str, source: int) -> dict[str, int]:
        """Fields of a source's address in a bank; whether it is relative is set when all are drawn again."""
        address = self._choose(range(TEMPORARIES)) | ADDRESS_INLINE * (bank == "inline")
        fields = {f"addr{source}": address, f"addr{source}_const": int(bank == "constant")}
        return fields | {f"addr{source}_rel": 0}

    def _sources(self, words: list[int]) -> tuple[set[int], bool]:
        read, relative = super()._sources(words)
        if self._source is not None and self._aim is not None:
            index, source = self._source
            is_relative = self._aim.operand.startswith("relative")
            words[index] = replace(_ADDRESSES[index], words[index], **{f"addr{source}_rel": int(is_relative)})
            relative |= is_relative
        return read, relative

    def _common(self, common: dict[str, int], touches: bool) -> dict[str, int]:
        found, aim = super()._common(common, touches), self._aim
        if aim is not None:
            unit = "alpha" if aim.is_alpha else "rgb"
            found |= {f"{unit}_pred_sel": aim.select.value, f"{unit}_pred_inv": int(aim.inverted)}
            # All channels, so that the one whose operand is aimed at is computed.
            found[f"{unit}_wmask"] = 1 if aim.is_alpha else (1 << ALPHA_CHANNEL) - 1
            found["last"] = 0
        return found


def aimed_case(seed: int, cells: list[str], *, lanes: int) -> Case:
    """A case whose program begins with an instruction for each cell."""
    return random_case(seed, lanes=lanes, draw=partial(AimedProgram, cells=cells))
