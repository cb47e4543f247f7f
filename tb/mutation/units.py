"""Which tests belong to which unit."""

from pathlib import Path

from ctm.tb.mutation.mutants import TOP

_WHOLE = tuple(f"tb/draws/test_{name}.py" for name in ("coverage", "directed", "geometry", "recorded"))
"""Tests of whole draws."""
_FIXED = ("arithmetic", "clipping", "drawer", "setup", "state", "strips", "topology")
UNITS: dict[str, tuple[str, ...]] = {
    "sim/golden/draw": tuple(f"tb/draws/test_{name}.py" for name in _FIXED),
    "sim/golden/r700/draws": ("tb/draws/test_programs.py", "tb/draws/test_faults.py", *_WHOLE),
    "sim/engines/fast": ("tb/fast",),
}
"""Arguments of pytest by folder or file; the innermost one counts. All others are as `suite_of` says."""


def suite_of(unit: Path) -> tuple[str, ...]:
    """The tests of a folder or file of the project.

    By default these are those of the folder of `tb` that is named as it: of ``rtl/fp/rounding.py`` and of ``sim/fp``
    that is ``tb/fp``. Of what has no such folder it is that of the nearest folder around it.

    Raises
    ------
    ValueError
        There is none.
    """
    names = unit.resolve().relative_to(TOP).parts
    for count in range(len(names), 0, -1):
        name = "/".join(names[:count])
        if name in UNITS:
            return UNITS[name]
        for folder in (TOP.joinpath("tb", *names[1:count]), TOP.joinpath("tb", *names[2:count])):
            if folder.is_dir() and folder != TOP / "tb":
                return (str(folder.relative_to(TOP)),)
    raise ValueError(f"{unit} has no tests; name them with --tests")
