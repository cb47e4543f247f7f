"""Which tests belong to which unit."""

from dataclasses import dataclass, field
from pathlib import Path

from ctm.tb.mutation.mutants import TOP


@dataclass(frozen=True)
class Tests:
    """Arguments of pytest, and environment variables that are set for them."""

    __test__ = False

    arguments: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)


_WHOLE = tuple(f"tb/draws/test_{name}.py" for name in ("coverage", "directed", "geometry", "recorded"))
_FIXED = ("clipping", "drawer", "setup", "state", "strips", "topology")
_DRAWS = Tests(
    (*(f"tb/draws/test_{name}.py" for name in _FIXED), *_WHOLE),
    # The engines share these files: what golden does, `fast` would only repeat.
    {"CTM_GOLDEN_ONLY": "1"},
)
UNITS = {
    "sim/golden/draw": _DRAWS,
    "sim/golden/r700/draws": Tests(("tb/draws/test_programs.py", "tb/draws/test_faults.py", *_WHOLE)),
    "sim/engines/fast": Tests(("tb/fast",)),
}
"""By folder or file, the innermost one counts. All others have the folder of tb of the same name, see `suite_of`."""


def suite_of(unit: Path) -> Tests:
    """The tests of a folder or file of the project.

    By default these are those of the folder of `tb` that is named as it: of ``rtl/fp/rounding.py`` and of ``sim/fp``
    that is ``tb/fp``. Of what has no such folder it is that of the nearest folder around it.

    Raises
    ------
    ValueError
        There is none.
    """
    parts = unit.resolve().relative_to(TOP).parts
    for count in range(len(parts), 0, -1):
        name = "/".join(parts[:count])
        if name in UNITS:
            return UNITS[name]
        for folder in (TOP.joinpath("tb", *parts[1:count]), TOP.joinpath("tb", *parts[2:count])):
            if folder.is_dir() and folder != TOP / "tb":
                return Tests((str(folder.relative_to(TOP)),))
    raise ValueError(f"{unit} has no tests; name them with --tests")
