"""Writes rtl/isa/coefficients.py, the table of the transcendental unit. The result is the same on every machine."""

from pathlib import Path

from ctm.sim.golden.fp.fit import fit

PATH = Path(__file__).resolve().parent.parent / "rtl" / "isa" / "coefficients.py"
HEADER = '''"""Table of the transcendental unit: (c0, c1, c2) at every address. Written by scripts/make_coefficients.

rtl/isa/transcendental.py has the widths and the regions, docs/arithmetic.md the datapath.
"""

COEFFICIENTS: tuple[tuple[int, int, int], ...] = (
'''


def main() -> None:
    """Fit and write the whole table; about a second."""
    entries = "".join(f"    ({c0}, {c1}, {c2}),\n" for c0, c1, c2 in fit())
    PATH.write_text(HEADER + entries + ")\n", encoding="ascii")


if __name__ == "__main__":
    main()
