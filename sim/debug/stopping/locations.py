"""Locations of breakpoints and watchpoints, as users write them."""

import re
from collections.abc import Callable
from typing import Any

from ctm.rtl.isa.limits import WORD_BYTES
from ctm.sim.debug.error import DebugError, unknown
from ctm.sim.debug.images.elements import address_in, check_address
from ctm.sim.debug.session import Session
from ctm.sim.debug.stopping.expressions import Expression
from ctm.sim.debug.stopping.stops import Stop
from ctm.sim.debug.stopping.stores import Area, Element
from ctm.sim.debug.stopping.trials import storing_strips
from ctm.sim.elf.lines import Line
from ctm.sim.golden.dpp.launch import Launch
from ctm.sim.golden.r700.draws.pixels import PixelLaunch
from ctm.sim.golden.r700.draws.threads import ThreadLaunch

_PIXEL = re.compile(r"\(?\s*(\d+)\s*,\s*(\d+)\s*\)?")
_UNIT = re.compile(r"\*\s*(0x[0-9a-fA-F]+|\d+)")
_LINE = re.compile(r"(?:(.+):)?(\d+)")
_LABEL = re.compile(r"\.?[A-Za-z_]\w*")
_DISASSEMBLED = re.compile(r"L(\d+)")
"""A label as the disassembler makes it: of a unit."""
ELEMENT = re.compile(r"o(\d+)\s*\[\s*(\d+)\s*,\s*(\d+)\s*\](?:\.(\w))?")
"""An element of an output, perhaps with a channel."""
_LIKE_ELEMENT = re.compile(r"[oO]\d+\s*(\[|\.|$)")
"""What is meant as an element."""
_SLOTS = frozenset("xyzwt")
"""What else stands in front of a colon."""


def stop_at(session: Session, text: str, *, is_temporary: bool = False) -> Stop:
    """A breakpoint by its text: ``12``, ``FILE:12``, ``LABEL``, ``*UNIT`` or ``(i, j)``, each with ``if CONDITION``.

    ``if CONDITION`` alone is any instruction. A line of a program that has not run is one as soon as that runs.

    Raises
    ------
    DebugError
        There is no such location, or no such condition.
    """
    location, condition = _split(session, text)
    if not location and condition is None:
        raise DebugError("a location is missing: a line, FILE:LINE, a label, *UNIT, (i, j) or `if CONDITION`")
    fields: dict[str, Any] = {}
    if match := _PIXEL.fullmatch(location):
        fields["pixel"] = int(match[1]), int(match[2])
        if not _may_come(session, *fields["pixel"]):
            raise DebugError(session.started.without(*fields["pixel"]))
    else:
        later = _later(session, location)
        fields["finds"], fields["executable"] = later, session.started.launch.executable
        fields["units"] = frozenset(session.code.units)
        if location:
            fields["units"] = _units(session, location) if later is None else frozenset()
    stop = Stop(number=0, text=text.strip(), condition=condition, is_temporary=is_temporary, **fields)
    return session.add_stop(stop)


def watch(session: Session, text: str) -> Stop:
    """Stop after an instruction that changes a value, or that stores to memory.

    ``EXPRESSION`` is watched in each lane, ``o0[3,7]`` is an element of an output, ``*0x1000`` the word at an address;
    each with ``if CONDITION``.

    Raises
    ------
    DebugError
        It is no such thing, or no such condition.
    """
    what, condition = _split(session, text)
    if not what:
        raise DebugError("watch takes EXPRESSION, o0[I,J] or *ADDRESS, each with `if CONDITION`")
    launch = session.started.launch
    stored = store_of(launch, what)
    if isinstance(launch, PixelLaunch) and isinstance(stored, Element) and stored.output in launch.program.outputs:
        return session.add_stop(_fragments(session, text.strip(), stored, condition))
    watched = None if stored is not None else Expression(what)
    if watched is not None:
        watched.value(session.view, session.wavefront.batch, launch)
    executable = launch.executable if watched is not None else None
    stop = Stop(
        number=0, text=text.strip(), watched=watched, stored=stored, condition=condition, executable=executable
    )  # fmt: skip
    return session.add_stop(stop)


def _fragments(session: Session, text: str, element: Element, condition: Expression | None) -> Stop:
    """A stop at the ends of the strips of draws that store an element of a target."""
    pixel = element.i, element.j
    if condition is not None:
        raise DebugError(f"a draw stores a pixel when all strips have run: `break {pixel} if` takes conditions")
    known: dict[int, frozenset[int]] = {}

    def fragments(launch: Launch[Any]) -> frozenset[int]:
        started = session.started
        if started.launch is not launch or not isinstance(launch, PixelLaunch):
            return frozenset()
        if started.number not in known:
            is_target = element.output in launch.program.outputs
            strips = storing_strips(started, element.output, pixel, session.cancellation) if is_target else []
            known[started.number] = frozenset(strips)
        return known[started.number]

    return Stop(number=0, text=text, stored=element, pixel=pixel, fragments=fragments)


def store_of(launch: Launch[Any], text: str) -> Area | Element | None:
    """What ``o0[3,7]`` or ``*0x1000`` is in memory; None if it is neither; DebugError: there is no such element."""
    first = address_in(text)
    if first is not None:
        check_address(first, text)
        return Area(first, first + WORD_BYTES)
    match = ELEMENT.fullmatch(text)
    if match is None or match[4]:
        if _LIKE_ELEMENT.match(text):
            raise DebugError(f"'{text}' is no element of an output: o0[I,J] is")
        return None
    if isinstance(launch, ThreadLaunch):
        raise DebugError(f"{launch.stage} stores no output: the targets of a draw are those of its PS")
    element = Element(*(int(each) for each in match.groups()[:3]))
    if element.area(launch) is None:
        known = sorted({*launch.program.outputs, *launch.program.uncached_outputs})
        if element.output not in known:
            raise unknown("output", f"o{element.output}", [f"o{number}" for number in known])
        buffer, coordinates = launch.outputs[element.output], f"({element.i}, {element.j})"
        raise DebugError(
            f"o{element.output} has no element {coordinates}: it is {buffer.width_limit} x {buffer.height_limit}"
        )
    return element


def _may_come(session: Session, i: int, j: int) -> bool:
    """Whether the launch has the pixel (i, j), or its draw may have it, whose raster is still to come."""
    launch, domain = session.started.launch, session.started.launch.domain
    is_pixel = domain.i0 <= i <= domain.i1 and domain.j0 <= j <= domain.j1
    return session.started.holds(i, j) is not None or (isinstance(launch, ThreadLaunch) and is_pixel)


def _split(session: Session, text: str) -> tuple[str, Expression | None]:
    """The location before ``if``, and the condition after it, which has a value here."""
    first, separator, last = (each.strip() for each in f" {text.strip()} ".partition(" if "))
    if not separator:
        return first, None
    if not last:
        raise DebugError("there is no condition after `if`")
    condition = Expression(last)
    condition.holds(session.view, session.wavefront.batch, session.started.launch)
    return first, condition


def _later(session: Session, location: str) -> Callable[[], frozenset[int]] | None:
    """Finds the units of a line that is in another program of the job; None if it is in this one, or in none."""
    match = _LINE.fullmatch(location)
    if match is None or match[1] is None:
        return None
    file, line = match[1], int(match[2])

    def here() -> frozenset[int]:
        lines = session.code.executable.lines
        known = set() if lines is None else {each.line for each in lines.units if each and each.file == file}
        return _of_line(session, file, line) if wanted in known else frozenset()

    following = sorted(each for each in session.lines.get(file, ()) if each >= line)
    wanted = following[0] if following else None
    return None if wanted is None or here() else here


def _units(session: Session, location: str) -> frozenset[int]:
    if match := _UNIT.fullmatch(location):
        unit = int(match[1], 0)
        if unit not in session.code.units:
            raise unknown("instruction", f"*{unit}", [f"*{each}" for each in session.code.units])
        return frozenset({unit})
    if match := _LINE.fullmatch(location):
        return _of_line(session, match[1], int(match[2]))
    if _LABEL.fullmatch(location):
        return _of_label(session, location)
    raise DebugError(f"'{location}' is no location: a line, FILE:LINE, a label, *UNIT and (i, j) are")


def _of_line(session: Session, file: str | None, line: int) -> frozenset[int]:
    """Where the code of a line begins; of a line without code, that of the next one."""
    lines = session.code.executable.lines
    if lines is None:
        raise DebugError("the program has no line table; *UNIT is an instruction of it")
    known = {each for each in lines.units if each is not None}
    files = lines.files
    name = files[0] if file is None else file
    if name not in files:
        raise unknown("file", name, dict.fromkeys((*files, *session.lines)))
    following = sorted(each.line for each in known if each.file == name and each.line >= line)
    if not following:
        raise DebugError(f"{name} has no code at line {line} or after it")
    wanted, units = Line(name, following[0]), session.code.units
    # An instruction is as long as to the next one; slots of a group may be of several lines.
    ends = [*units[1:], len(lines.units)]
    has = [any(lines.at(each) == wanted for each in range(*both)) for both in zip(units, ends, strict=True)]
    return frozenset(
        unit for unit, own, before in zip(units, has, [False, *has[:-1]], strict=True) if own and not before
    )


def _of_label(session: Session, label: str) -> frozenset[int]:
    """Where the code after a label of the source begins."""
    pattern = re.compile(rf"\s*{re.escape(label)}\s*:", re.IGNORECASE)
    known = []
    for file, text in session.code.files.items():
        # Python has no labels, but `else:`.
        for number, row in enumerate([] if file.endswith(".py") else text.splitlines(), start=1):
            if pattern.match(row):
                return _of_line(session, file, number)
            known += [each for each in re.findall(r"^\s*([A-Za-z_]\w*)\s*:", row) if each not in _SLOTS]
    if (match := _DISASSEMBLED.fullmatch(label)) and int(match[1]) in session.code.units:
        return frozenset({int(match[1])})
    raise unknown("label", label, known)
