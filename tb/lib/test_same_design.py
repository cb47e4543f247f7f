"""Tests of the comparison of designs: what a rename may change, and what it may not."""

from pathlib import Path

import pytest

from ctm.tb.lib.same_design import difference, main

TEXT = r"""
attribute \top 1
module \ctm
  wire width 8 input 1 \a
  wire width 8 output 2 \q
  cell \ctm.core \core
    connect \a \a
    connect \q \q
  end
end
module \ctm.core
  wire width 8 input 1 \a
  wire width 8 $1
  wire width 8 output 2 \q
  cell $add $2
    parameter \A_WIDTH 8
    connect \A \a
    connect \B 8'00000001
    connect \Y $1
  end
  connect \q $1
end
"""


def test_a_renamed_signal_instance_or_module_is_the_same_design() -> None:
    for old, new in ((r"\a", r"\address"), (r"\core", r"\half"), (r"ctm.core", r"ctm.half"), ("$2", "$7")):
        assert difference(TEXT, TEXT.replace(old, new)) is None, (old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("8'00000001", "8'00000010"),
        ("$add", "$sub"),
        (r"connect \A \a", r"connect \A $1"),
        (r"connect \q $1", r"connect \q \a"),
        ("width 8 $1", "width 9 $1"),
        ("  connect \\q $1\n", ""),
        (r"wire width 8 input 1 \a", r"wire width 8 input 1 \q"),
    ],
)
def test_another_design_is_found(old: str, new: str) -> None:
    assert old in TEXT
    assert difference(TEXT, TEXT.replace(old, new)) is not None


def test_the_command_compares_folders(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, text in (("old", TEXT), ("new", TEXT.replace(r"\q", r"\sum")), ("other", TEXT.replace("$add", "$sub"))):
        (tmp_path / name).mkdir()
        (tmp_path / name / "tiny.il").write_text(text)
    assert main(["compare", str(tmp_path / "old"), str(tmp_path / "new")]) == 0
    assert capsys.readouterr().out == "tiny: the same design\n"
    assert main(["compare", str(tmp_path / "old"), str(tmp_path / "other")]) == 1
    assert "became 'cell $sub $2'" in capsys.readouterr().out
    assert main(["compare", str(tmp_path / "none"), str(tmp_path / "new")]) == 1
    assert main(["draw"]) == 2
