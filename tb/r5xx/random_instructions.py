"""Random legal instructions, one after the other, that obey the rules of synchronisation.

A fetch's target is accessed again only after a wait, and every ALU instruction has its NOP flag set, so that the
next may use presubtract and derivatives.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ctm.rtl.isa.limits import TEMPORARIES
from ctm.rtl.isa.r5xx.instruction import (
    ADDRESS_INLINE,
    ALPHA_ADDR,
    ALPHA_INST,
    COMMON,
    RGB_ADDR,
    RGB_INST,
    RGBA_INST,
    TEX_ADDR,
    TEX_INST,
)
from ctm.rtl.isa.r5xx.opcodes import InputModifier, InstructionType, RgbOperation, Swizzle, TextureOperation, UmrtTarget
from ctm.rtl.isa.word import fields, pack, replace, unpack
from ctm.tb.r5xx.machine import Instruction, alu
from ctm.tb.r5xx.random_alu import random_words

READ_BACK = 15
"""The input that is output 0 of an uncached-write program."""
INPUTS = 6
_OWN_PAIRS = [UmrtTarget.PER_PROCESSOR_IDX, UmrtTarget.PER_PROCESSOR_IDX_ACQUIRE]
_FETCHES = [operation.value for operation in TextureOperation if operation is not TextureOperation.KILL_LT_0]


@dataclass
class Pending:
    """Temporaries that fetches are still to write: after an acquire, and without one."""

    held: set[int] = field(default_factory=set)
    loose: set[int] = field(default_factory=set)

    def merged(self, other: "Pending") -> "Pending":
        """The state where two paths meet."""
        loose = self.loose | other.loose
        return Pending((self.held | other.held) - loose, loose)

    def copy(self) -> "Pending":
        return Pending(set(self.held), set(self.loose))


class Code:
    """Instructions while they are drawn."""

    def __init__(self, generator: np.random.Generator, *, uncached: bool) -> None:
        self._generator, self.uncached = generator, uncached
        self._shares_pairs = self._chance(0.5)
        self.relative_share = 0.05
        """How many of the sources are relative."""
        self.highest_temporary = int(generator.choice([0, 1, 3, 7, 14, 31, 63, 127], p=[0.03, *[0.15] * 5, 0.14, 0.08]))
        self.code: list[Instruction] = []
        self._pending = Pending()

    def _chance(self, probability: float) -> bool:
        return bool(self._generator.random() < probability)

    def _choose(self, values: Sequence[int]) -> int:
        return int(values[int(self._generator.integers(len(values)))])

    def _emit(self, words: Instruction, *, waits: bool = False) -> int:
        """Append an instruction; with `waits` it waits for the semaphore."""
        if waits:
            words = (replace(COMMON, words[0], tex_sem_wait=1), *words[1:])
        if unpack(COMMON, words[0])["tex_sem_wait"]:
            self._pending.held.clear()
        self.code.append(tuple(words))
        return len(self.code) - 1

    def _reserve(self) -> int:
        """The address of an instruction whose target is filled in later."""
        self.code.append(())
        return len(self.code) - 1

    def _register(self) -> int:
        """A temporary, now and then one that the program does not have."""
        beyond = self._chance(0.03)
        return int(self._generator.integers(TEMPORARIES if beyond else self.highest_temporary + 1))

    def _target(self) -> int:
        """A temporary to be written: programs with uncached writes keep their position, which is in r0."""
        return max(1, self._register()) if self.uncached else self._register()

    def _drain(self) -> None:
        """Wait for all fetches."""
        if self._pending.loose:
            inst = pack(TEX_INST, inst=TextureOperation.NOP.value, tex_sem_acquire=1)
            self._emit((pack(COMMON, type=InstructionType.TEX.value, tex_sem_wait=1), inst, 0, 0, 0, 0))
            self._pending = Pending(held=self._pending.loose)
        if self._pending.held:
            self._emit(self._instruction(touches=False), waits=True)

    def _settle(self, touched: set[int] | None) -> bool:
        """Make it legal to touch some temporaries, None for any; whether the instruction has to wait."""
        pending = self._pending
        if pending.loose and (touched is None or touched & pending.loose):
            self._drain()
            return False
        return bool(pending.held) and (touched is None or bool(touched & pending.held))

    def _arithmetic(self) -> int:
        words = self._instruction()
        self._emit(words)
        return 1

    def _instruction(self, *, touches: bool = True, **fixed: int) -> Instruction:
        """An ALU or OUTPUT instruction with legal synchronisation; without `touches` its results go nowhere."""
        words = self._words()
        common = self._common(unpack(COMMON, words[0]), touches)
        if not touches:
            words[3] = replace(RGB_INST, words[3], alu_wmask=0)
        sources, sources_relative = self._sources(words)
        targets, targets_relative = self._targets(words)
        touched = None if sources_relative or targets_relative else sources | targets
        if touches and self._settle(touched):
            common["tex_sem_wait"] = 1
        words[0] = pack(COMMON, **{**common, **fixed})
        return tuple(words)

    def _words(self) -> list[int]:
        """The words of an ALU or OUTPUT instruction, whose synchronisation, registers and masks are to be drawn."""
        return list(random_words(self._generator))

    def _common(self, common: dict[str, int], touches: bool) -> dict[str, int]:
        """Word 0 with plain values more often than chance would have it."""
        is_output = self._chance(0.12) and not self.uncached
        common |= {"type": int(is_output), "nop": 1, "last": int(self._chance(0.03)), "tex_sem_wait": 0}
        if self._chance(0.6):
            common |= {"rgb_pred_sel": 0, "rgb_pred_inv": 0, "alpha_pred_sel": 0, "alpha_pred_inv": 0}
        if self._chance(0.9) and not is_output:
            common |= {"rgb_omask": 0, "alpha_omask": 0}
        common["write_inactive"] = int(self._chance(0.25))
        if not touches:
            common |= {"rgb_wmask": 0, "alpha_wmask": 0, "rgb_omask": 0, "alpha_omask": 0, "type": 0}
        return common

    def _sources(self, words: list[int]) -> tuple[set[int], bool]:
        """Redraw the sources that are temporaries; those that are read, and whether some are relative."""
        read, relative = set(), False
        for index, layout in ((1, RGB_ADDR), (2, ALPHA_ADDR)):
            unpacked = unpack(layout, words[index])
            for source in range(3):
                if not unpacked[f"addr{source}"] & ADDRESS_INLINE or unpacked[f"addr{source}_const"]:
                    unpacked[f"addr{source}_rel"] = int(self._chance(self.relative_share))
                if not unpacked[f"addr{source}_const"] and unpacked[f"addr{source}"] < TEMPORARIES:
                    unpacked[f"addr{source}"] = self._register()
                    read.add(unpacked[f"addr{source}"])
                    relative |= bool(unpacked[f"addr{source}_rel"])
            words[index] = pack(layout, **unpacked)
        return read, relative

    def _targets(self, words: list[int]) -> tuple[set[int], bool]:
        """Redraw the destinations; as `_sources`."""
        written, relative = set(), False
        for index, layout, prefix in ((4, ALPHA_INST, ""), (5, RGBA_INST, "rgb_")):
            register, is_relative = self._target(), self._chance(0.08) and not self.uncached
            fields_ = {f"{prefix}addrd": register, f"{prefix}addrd_rel": int(is_relative)}
            words[index] = replace(layout, words[index], **fields_)
            written.add(register)
            relative |= is_relative
        return written, relative

    def _output(self) -> Instruction:
        """The last instruction."""
        words = self._instruction(type=InstructionType.OUTPUT.value)
        mask = {"rgb_omask": 0, "alpha_omask": 0} if self.uncached else {}
        return replace(COMMON, words[0], write_inactive=0, **mask), *words[1:]

    def _fetch(self) -> int:
        operation = self._choose([*_FETCHES, *[TextureOperation.LOOKUP.value] * 3])
        if self.uncached and operation == TextureOperation.LOOKUP_UNCACHED.value:
            # It would have to wait for the writes.
            operation = TextureOperation.LOOKUP_PROJ.value
        source = 0 if self._chance(0.6) else self._register()
        target = self._target()
        if target == 0 and self._chance(0.7) and self.highest_temporary:
            target = 1
        relative = {name: int(self._chance(0.06)) for name in ("src_addr_rel", "dst_addr_rel")}
        if self.uncached:
            relative["dst_addr_rel"] = 0
        touched = None if any(relative.values()) else {source, target}
        waits = self._settle(touched)
        acquires = self._chance(0.4)
        swizzles = {name: self._choose(range(4)) for name, _, _ in fields(TEX_ADDR) if name.endswith("swiz")}
        if self._chance(0.6):
            swizzles |= {"src_s_swiz": 0, "src_t_swiz": 1, "src_q_swiz": 3}
        common = {
            "type": InstructionType.TEX.value, "tex_sem_wait": int(waits or acquires or self._chance(0.2)),
            "rgb_wmask": self._choose([7, 7, 7, 5, 0, 2]), "alpha_wmask": self._choose([1, 1, 0]),
            "last": int(self._chance(0.02)), "write_inactive": int(self._chance(0.1)),
        }  # fmt: skip
        if self._chance(0.3):
            common |= {"rgb_pred_sel": self._choose(range(6)), "rgb_pred_inv": self._choose(range(2)),
                       "alpha_pred_sel": self._choose(range(6)), "alpha_pred_inv": self._choose(range(2))}  # fmt: skip
        inst = pack(
            TEX_INST, inst=operation, tex_id=self._choose(range(INPUTS)), tex_sem_acquire=int(acquires),
            ignore_uncovered=int(self._chance(0.2)), unscaled=int(self._chance(0.7)),
        )  # fmt: skip
        addr = pack(TEX_ADDR, src_addr=source, dst_addr=target, **relative, **swizzles)
        self._emit((pack(COMMON, **common), inst, addr, int(self._generator.integers(1 << 32)), 0, 0))
        written = {target} if operation else set()
        if relative["dst_addr_rel"] and operation:
            written = set(range(TEMPORARIES))
        if acquires:
            self._pending = Pending(held=self._pending.held | self._pending.loose | written)
        else:
            self._pending.loose |= written
            self._pending.held -= written
        return 1

    def _kill(self) -> int:
        source = self._register()
        waits = self._settle({source})
        if self._chance(0.2) and source and not waits:
            ones = {f"red_swiz_{name}": Swizzle.ONE.value for name in "ab"} | {"mod_a": InputModifier.NEG.value}
            self._emit(alu(rgb={**ones, "rgb_addrd": source, "red_swiz_c": Swizzle.ZERO.value}, rgb_wmask=1, nop=1))
        common = pack(
            COMMON, type=InstructionType.TEX.value, tex_sem_wait=int(waits), rgb_wmask=self._choose([1, 1, 2, 4]),
            rgb_pred_sel=self._choose(range(6)), alpha_wmask=int(self._chance(0.2)),
        )  # fmt: skip
        inst = pack(TEX_INST, inst=TextureOperation.KILL_LT_0.value)
        self._emit((common, inst, pack(TEX_ADDR, src_addr=source), 0, 0, 0))
        return 1

    def _uncached_write(self) -> int:
        """Write own data to the own pair, and now and then read it again."""
        data, temporary = self._register(), min(self.highest_temporary, 2)
        if not temporary:
            return 1
        if self._settle({0, data, temporary}):
            self._drain()
        copy = {"rgb_op": RgbOperation.MIN.value, "omod": 7, "rgb_addrd": temporary}
        swizzle = {
            f"{color}_swiz_{name}": index for name in "ab" for color, index in (("red", 0), ("green", 0), ("blue", 1))
        }
        self._emit(alu(rgb={"addr0": data, **copy}, rgb_wmask=1, nop=1))
        self._emit(alu(rgb={"addr0": 0, **copy, **swizzle}, rgb_wmask=6, nop=1))
        # What another lane wrote at one's own pair is not to be read again.
        legal = list(UmrtTarget) if self._shares_pairs else _OWN_PAIRS
        target = self._choose([code.value for code in legal])
        own = {f"{color}_swiz_{name}": index for name in "ab" for index, color in enumerate(("red", "green", "blue"))}
        acquires = target in (UmrtTarget.SAME_IDX_ACQUIRE.value, UmrtTarget.PER_PROCESSOR_IDX_ACQUIRE.value)
        rgb = {"addr0": temporary, **copy, **own, "target": target}
        predicate = {"rgb_pred_sel": self._choose(range(6))} if self._chance(0.3) else {}
        common = {"type": 1, "rgb_omask": 7, "alpha_omask": 1, "nop": 1, "tex_sem_wait": int(acquires), **predicate}
        self._emit(alu(rgb=rgb, alpha=None, **common))
        if acquires and not self._shares_pairs:
            self._read_back(temporary)
        return 4

    def _read_back(self, target: int) -> None:
        if self._pending.loose:
            self._drain()
        common = pack(COMMON, type=InstructionType.TEX.value, tex_sem_wait=1, rgb_wmask=7, alpha_wmask=1)
        inst = pack(TEX_INST, inst=TextureOperation.LOOKUP_UNCACHED.value, tex_id=READ_BACK, tex_sem_acquire=1,
                    ignore_uncovered=1, unscaled=1)  # fmt: skip
        addr = pack(TEX_ADDR, src_addr=0, src_t_swiz=1, dst_addr=target, dst_g_swiz=1, dst_b_swiz=2, dst_a_swiz=3)
        self._emit((common, inst, addr, 0, 0, 0))
        self._pending = Pending(held={target})
