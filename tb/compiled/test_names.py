"""Names need no backslash, are no keywords, and stay different from each other."""

import pytest

from ctm.sim.compiled.rewriting.names import with_instances_apart, with_plain_names


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("$44", "_44"),
        ("irq$96", "irq$96"),
        ("ctm.machine", "ctm__machine"),
        ("words[3].sign", "words__3__sign"),
        ("words[3]", "words__3"),
        ("$signal$20", "_signal$20"),
        ("table", "table_"),
        ("bool", "bool_"),
        ("0", "_0"),
    ],
)
def test_a_name_is_what_a_person_would_type(name: str, plain: str) -> None:
    assert with_plain_names(f"  assign \\{name} [3] = \\{name} ;\n") == f"  assign {plain}[3] = {plain};\n"


def test_a_word_that_only_icarus_keeps_for_itself_is_renamed() -> None:
    assert with_plain_names("  wire bool; wire bools; assign x = 4'hb;") == "  wire bool_; wire bools; assign x = 4'hb;"


def test_different_names_stay_different() -> None:
    assert with_plain_names("a__b \\a.b \\a[b] ;") == "a__b a__b_a__b__;"


def test_an_instance_is_not_called_as_a_signal_in_it() -> None:
    text = "module top(a);\n  inner code (\n    .code(a)\n  );\nendmodule\nmodule inner(code);\n  {}\nendmodule\n"
    hidden, apart = text.format("input [3:0] code;"), text.format("input other;")
    assert with_instances_apart(hidden) == hidden.replace("inner code (", "inner code_ (")
    assert with_instances_apart(apart) == apart
