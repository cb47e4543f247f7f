"""Random kernels in C: compiled for a core and run on the golden model, they give what the same C gives on the host."""

import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from ctm.sim.compiler import KernelError, compile_kernel
from ctm.sim.compiler.source import Source
from ctm.sim.fault import MachineError
from ctm.tb.compiler import core, device_core
from ctm.tb.compiler.comparison import differences
from ctm.tb.compiler.host import Library
from ctm.tb.compiler.outcomes import R5XX_REASONS, R700_REASONS
from ctm.tb.compiler.random_kernels import PRELUDE, RandomFloatKernel, RandomKernel, launch
from ctm.tb.verify.campaign import Campaign, Case, Found, Tables

CONSTRUCTS = "kernel constructs"
_NAME = "k"
_KINDS = ("R700", "R700 with arrays", "R5xx")
_REASONS = (R700_REASONS, R700_REASONS, R5XX_REASONS)
_CONSTRUCTS = {
    "if": r"\bif \(", "else": r"\belse\b", "for": r"\bfor \(", "while": r"\{ int \w+ = 0; while", "do": r"\bdo \{",
    "switch": r"\bswitch \(", "case that falls through": r";\n *case \d", "break": r"\bbreak;", "return": r"\breturn;",
    "continue": r"\bcontinue;", "discard": r"\bdiscard\(", "condition of two": r"&&|\|\|", "choice": r" \? ",
    "texel": r"texel\(0, [^p]", "vector": r"\bvec3\(", "unsigned": r"\(uint\)", "division": r" / ",
    "remainder": r" % ", "shift": r"<<|>>", "array, written": r"\bq\[.*\] =", "array, read": r"= q\[",
    "extreme": r"\b(min|max)\(", "rounding": r"\b(floor|ceil|trunc|rint)\(", "rotation": r"rotate_left",
    "zeros": r"trailing_zeros",
}  # fmt: skip
_FIXED_LINES = 4
"""Lines of a kernel's head, which stay."""


class KernelCampaign(Campaign):
    """See the module."""

    name = "kernels"
    about = "random kernels in C on both kinds of cores and on the host"
    batch = 15
    enough = 10_000

    def run(self, case: Case) -> Found:
        """See `Campaign.run`."""
        number, kind = divmod(case["seed"], len(_KINDS))
        text = "\n".join(case["program"]) + "\n" if "program" in case else _text(number, kind)
        isa = "r5xx" if kind == len(_KINDS) - 1 else "r700"
        where = launch()
        try:
            program = compile_kernel(Source(PRELUDE + text, "k.c"), isa=isa).executable
        except KernelError as error:
            return _unsupported(str(error), kind)
        with tempfile.TemporaryDirectory() as folder:
            try:
                host = Library([PRELUDE + text], Path(folder), is_fused=isa == "r5xx")
            except subprocess.CalledProcessError:
                raise ValueError("the host's compiler does not take it") from None
            expected = host.run(_NAME, where, core.UNTOUCHED)
        try:
            found = device_core.run(program, where) if isa == "r5xx" else core.run(program, where)
        except (AssertionError, MachineError) as error:
            return Found(f"{_KINDS[kind]}: {error}", "error")
        wrong = differences(found, expected, bits=() if isa == "r5xx" else (0,))
        if wrong:
            return Found(f"{_KINDS[kind]}: {wrong} words are not those of the host", "words")
        return Found(events=Counter(_constructs(text, kind)))

    def tables(self) -> Tables:
        """See `Campaign.tables`."""
        return {CONSTRUCTS: [f"{kind} / {name}" for kind in _KINDS for name in _CONSTRUCTS]}

    def opened(self, case: Case) -> Case:
        """See `Campaign.opened`."""
        number, kind = divmod(case["seed"], len(_KINDS))
        return {"seed": case["seed"], "program": _text(number, kind).splitlines()}

    def size(self, case: Case) -> int:
        """See `Campaign.size`: lines of the body."""
        return max(0, len(case.get("program", ())) - _FIXED_LINES - 1)

    def kept(self, case: Case, items: Sequence[int]) -> Case | None:
        """See `Campaign.kept`; None where braces do not match."""
        lines = case["program"]
        body = [lines[_FIXED_LINES + item] for item in items]
        depth = 0
        for line in body:
            for brace in re.findall(r"[{}]", line):
                depth += 1 if brace == "{" else -1
                if depth < 0:
                    return None
        return None if depth else {**case, "program": [*lines[:_FIXED_LINES], *body, lines[-1]]}


def _text(number: int, kind: int) -> str:
    """The kernel of a seed."""
    if _KINDS[kind] == "R5xx":
        return RandomFloatKernel(number).text(_NAME)
    return RandomKernel(number, arrays=kind == 1).text(_NAME)


def _unsupported(error: str, kind: int) -> Found:
    """A kernel that the compiler does not take: right if the reason is known."""
    for reason in _REASONS[kind]:
        if reason in error:
            return Found()
    # A reduced kernel is to fail for the same reason, at whatever line.
    sentence = re.sub(r"^k\.c[:\d]*|\d+|'[^']*'", "", error)
    return Found(f"{_KINDS[kind]}: {error}", f"message{sentence}")


def _constructs(text: str, kind: int) -> Iterator[str]:
    for name, pattern in _CONSTRUCTS.items():
        if re.search(pattern, text):
            yield f"{CONSTRUCTS}|{_KINDS[kind]} / {name}"
