"""Single mistakes in what reads code."""

from collections.abc import Mapping

from ctm.tb.lib.planting import Fault, faults_in

FAULTS: Mapping[str, list[Fault]] = {
    "code.test_controls": faults_in(
        "rtl.r700.code.controls",
        ('"GE": ("greater", "equal")', '"GE": ("greater",)'),
        ('"LE": ("less", "equal")', '"LE": ("less", "greater")'),
        ('"MIN": {**_CHOICE, **_accepting("less")}', '"MIN": {**_CHOICE, **_accepting("less", "equal")}'),
        ('_accepting("less", "second_nan")', '_accepting("less")'),
        ('"UINT": Type.UNSIGNED', '"UINT": Type.SIGNED'),
        ("holds, fails = fails, holds", "pass"),
        ("holds = Source.ONES", "holds = Source.ONE"),
        ('"test": Test.SECOND', '"test": Test.FIRST'),
        ('**words, "test": Test.FIRST}', "**words}"),
        ('"inverts": 1,', '"inverts": 0,'),
        ('"pops": 1', '"pops": 0'),
        ('"FF": Limit.ZERO', '"FF": Limit.LARGEST'),
        ('rules = {} if stem.endswith("IEEE") else _LENIENT', "rules = _LENIENT"),
        ('"M4": 2', '"M4": 1'),
    ),
    "code.test_groups": [
        *faults_in(
            "rtl.r700.code.groups",
            ("skip=odd & step[0]", "skip=odd & step[1]"),
            ("with m.If(begins | Cat(own).any()):", "with m.If(Cat(own).any()):"),
            ("finished.eq(arrived.facts)", "finished.eq(parsed.facts)"),
            ("(before.facts.next >= end)", "(before.facts.next > end)"),
            ("(taken & ~facts.vector_only & ~facts.is_reduction)", "(taken & ~facts.is_reduction)"),
            ("(slot < before.next_slot) |", ""),
            ("(facts.operands > number)", "(facts.operands >= number)"),
            ("Mux(both[1], 2,", "Mux(both[0], 2,"),
            ("Mux(literals > before.literal_units,", "Mux(literals.any(),"),
            ("literals_read + 1 == before.literal_units", "literals_read == before.literal_units"),
            ("with m.If(~parsed.done & ~parsed.missed):", "with m.If(~parsed.done):"),
            ("with m.If(~parsed.done & ~parsed.missed):", "with m.If(~parsed.missed):"),
            ("~facts.is_legal |", ""),
            ("after.done.eq(after.literal_units == 0)", "after.done.eq(before.literal_units == 0)"),
        ),
        *faults_in(
            "rtl.r700.code.words",
            ("Value.cast(fields.op3).any()", "Value.cast(fields.op3)[:2].any()"),
        ),
    ],
    "code.test_reader": faults_in(
        "rtl.r700.code.reader",
        ("chosen.ready.eq(request.ready & free.any())", "chosen.ready.eq(request.ready)"),
        ("Mux(goes, free, 0)", "free"),
        (" & ~responded", ""),
        ("Signal(CODE_LINES)", "Signal(CODE_LINES - 1)"),
        ("uncached.eq(chosen.payload.uncached)", "uncached.eq(0)"),
        ("(owner.core == number)", "(owner.core >= number)"),
        ("tag.eq(owner.tag)", "tag.eq(0)"),
        ("error.eq(response.payload.error)", "error.eq(0)"),
    ),
}
"""By the test whose `compare` finds them."""
