"""The generated reference and the C header are what the declarations say."""

import subprocess
import sys
from pathlib import Path

from ctm.rtl.isa.host import COUNTERS, COUNTERS_OFFSET, REGISTERS
from ctm.sim.report.header import c_header

TOP = Path(__file__).parents[1]


def test_the_reference_of_words_is_up_to_date() -> None:
    for module, document in (("make_isa_reference", "isa.md"), ("r700_reference", "isa-r700.md")):
        program = f"from scripts.{module} import reference; print(reference(), end='')"
        made = subprocess.run([sys.executable, "-c", program], cwd=TOP, capture_output=True, text=True, check=True)
        assert made.stdout == (TOP / "docs" / document).read_text()


def test_the_c_header_is_up_to_date() -> None:
    assert (TOP / "docs" / "ctm.h").read_text() == c_header()


def test_the_c_header_compiles_and_has_every_offset(tmp_path: Path) -> None:
    offsets = {register.name: register.offset for register in REGISTERS}
    offsets |= {f"COUNTER_{name}": COUNTERS_OFFSET + 4 * index for index, name in enumerate(COUNTERS)}
    checks = "\n".join(f'static_assert(CTM_{name} == {offset}, "{name}");' for name, offset in offsets.items())
    source = tmp_path / "check.cc"
    source.write_text(f'#include "{TOP / "docs" / "ctm.h"}"\n{checks}\n')
    subprocess.run(["g++", "-std=c++17", "-Wall", "-Werror", "-fsyntax-only", str(source)], check=True)
