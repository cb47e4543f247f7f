"""The points of a sweep: a file of a sweep, read, checked and multiplied out."""

import hashlib
import itertools
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from ctm.rtl.config import PRESETS, MachineConfig, settings_of
from ctm.sim.engines.choice import ENGINES
from ctm.sim.fault import MachineError
from ctm.sim.jobs.drawing import draw_problem
from ctm.sim.jobs.execution import check_kinds
from ctm.sim.jobs.loading import LoadedJob, load_job
from ctm.sim.jobs.reading import Key, TomlText, message_of
from ctm.sim.sweep.conditions import Condition, ConditionError, condition
from ctm.sim.sweep.content import digest_of_job
from ctm.sim.sweep.names import unknown
from ctm.sim.sweep.schema import SECTIONS, Configurations, Range, Sweep, SweptJob, values_of
from ctm.sim.sweep.settings import check_kind, machine, named
from ctm.sim.sweep.sized import Size, distinct, size_of, sized

MOST_POINTS = 1_000_000
_ID_DIGITS = 24
_TOLD = 20_000
"""After so many machines or points a sentence says how many there are; they take some ten seconds."""
_Value = TypeVar("_Value")
Tell = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Point:
    """One machine, one job over one domain, one engine. `identity` is a hash of all that its cycles depend on."""

    number: int
    identity: str
    preset: str
    sets: Mapping[str, str]
    changed: Mapping[str, int | str]
    """Settings that the sweep gives values to."""
    config: MachineConfig
    job: str
    size: Size
    engine: str

    @property
    def configuration(self) -> str:
        """Preset and changed settings, for people."""
        members = [f"{name}={member}" for name, member in self.sets.items()]
        return " ".join([self.preset, *members, *(f"{name}={value}" for name, value in self.changed.items())])

    def __str__(self) -> str:
        return f"{self.configuration}, {self.job} {self.size[0]} x {self.size[1]}, {self.engine}"


@dataclass(frozen=True, kw_only=True)
class Points:
    """All points of a sweep, in order, the jobs by name and size, with their hashes; and what was left out."""

    sweep: Sweep
    path: Path
    points: tuple[Point, ...]
    jobs: Mapping[tuple[str, Size], LoadedJob]
    digests: Mapping[tuple[str, Size], str]
    left_out: int
    """By conditions."""
    impossible: int
    repeated: int


def load_points(path: Path, tell: Tell = lambda sentence: None) -> Points:
    """The points of the sweep in a file; `tell` is called with a sentence now and then while they are many.

    Raises
    ------
    JobError
        The file, or a job that it names, is wrong; the message names file, key and line.
    AssemblyError, KernelError, ToolchainError
        The program of a job is.
    """
    return _Expansion(path).points(tell)


@dataclass
class _Machine:
    """A machine before it is combined with jobs: which it is, or why there is none."""

    preset: str
    sets: dict[str, str]
    changed: dict[str, int | str]
    key: Key
    config: MachineConfig | None = None
    problem: str = ""


@dataclass
class _Count:
    left_out: int = 0
    impossible: int = 0
    repeated: int = 0
    seen: set[str] = field(default_factory=set)


class _Expansion:
    def __init__(self, path: Path) -> None:
        self._text = TomlText(path, "sweep")
        self._sweep = self._text.shaped(Sweep, SECTIONS)
        self._path = path
        self._sets = {
            name: {member: self._settings(("sets", name, member), table) for member, table in members.items()}
            for name, members in self._sweep.sets.items()
        }
        self._conditions = [self._condition(number, table) for number, table in enumerate(self._sweep.leave_out)]
        self._jobs: dict[tuple[str, Size], LoadedJob] = {}
        self._count = _Count()

    def points(self, tell: Tell) -> Points:
        every = (each for number, section in enumerate(self._sweep.configurations)
                 for each in self._machines(number, section))  # fmt: skip
        machines = list(_told(every, tell, "configurations"))
        self._load_jobs()
        self._check_conditions()
        digests = {key: digest_of_job(job) for key, job in self._jobs.items()}
        found: list[Point] = []
        combinations = itertools.product(machines, self._jobs, self._sweep.engines)
        for each, (name, size), engine in _told(combinations, tell, "combinations with jobs and engines"):
            point = self._point(len(found), each, name, size, engine, digests[name, size])
            if point is not None:
                found.append(point)
                if len(found) > MOST_POINTS:
                    raise self._text.error((), f"these are more than {MOST_POINTS:,} points")
        if not found:
            raise self._text.error((), "there is no point: everything is left out")
        return Points(
            sweep=self._sweep, path=self._path, points=tuple(found), jobs=self._jobs, digests=digests,
            left_out=self._count.left_out, impossible=self._count.impossible, repeated=self._count.repeated,
        )  # fmt: skip

    def _at(self, key: Key, action: Callable[[], _Value]) -> _Value:
        """Do something whose failure is the fault of a key."""
        try:
            return action()
        except ValidationError as error:
            # A key that is unknown explains another that is missing.
            first = min(error.errors(), key=lambda one: one["type"] != "extra_forbidden")
            raise self._text.error((*key, *first["loc"]), message_of(first, Range, {})) from None
        except ValueError as error:
            raise self._text.error(key, str(error)) from None

    def _settings(self, key: Key, tables: Mapping[str, Any]) -> dict[str, tuple[int | str, ...]]:
        """Values of each setting in tables that stand at a key."""
        found: dict[str, tuple[int | str, ...]] = {}
        try:
            for name, keys, value in named(tables):
                values = self._at((*key, *keys), partial(values_of, value))
                for each in values:
                    self._at((*key, *keys), partial(check_kind, name, each))
                found[name] = values
        except KeyError as error:
            keys, problem = error.args
            raise self._text.error((*key, *keys), problem) from None
        return found

    def _condition(self, number: int, table: Mapping[str, Any]) -> Condition:
        try:
            return condition(table, self._sweep.sets)
        except ConditionError as error:
            raise self._text.error(("leave_out", number, *error.keys), str(error)) from None

    def _machines(self, number: int, section: Configurations) -> Iterator[_Machine]:
        key: Key = ("configurations", number)
        for name in section.sets:
            if name not in self._sets:
                raise self._text.error((*key, "sets"), unknown("set", name, self._sets))
        own = self._settings((*key, "settings"), section.settings)
        for preset in section.preset:
            for members in itertools.product(*(self._sets[name] for name in section.sets)):
                chosen = dict(zip(section.sets, members, strict=True))
                together: dict[str, tuple[int | str, ...]] = {}
                for name, member in chosen.items():
                    together |= self._sets[name][member]
                values = together | own
                for combination in itertools.product(*values.values()):
                    changed = dict(zip(values, combination, strict=True))
                    made = _Machine(preset, chosen, changed, (*key, "settings"))
                    try:
                        made.config = machine(preset, changed)
                    except ValueError as error:
                        made.problem = str(error)
                    yield made

    def _load_jobs(self) -> None:
        names: set[str] = set()
        for number, section in enumerate(self._sweep.jobs):
            key: Key = ("jobs", number)
            name = section.name or Path(section.file).stem
            if name in names:
                raise self._text.error((*key, "name"), f"two jobs are called '{name}': give one another name")
            names.add(name)
            self._load_job(key, name, section)

    def _check_conditions(self) -> None:
        """A condition on what no point is would leave nothing out, in silence."""
        known: dict[str, Iterable[str]] = {
            "job": dict.fromkeys(name for name, _ in self._jobs), "engine": ENGINES, "preset": PRESETS
        }  # fmt: skip
        for number, wanted in enumerate(each.wanted for each in self._conditions):
            for name, names in known.items():
                value = wanted.get(name, ())
                for each in value if isinstance(value, list | tuple) else [value]:
                    if each not in names:
                        raise self._text.error(("leave_out", number, name), unknown(name, each, names))

    def _load_job(self, key: Key, name: str, section: SweptJob) -> None:
        path = self._path.parent / section.file
        if not path.exists():
            near = [os.path.join(os.path.dirname(section.file), found.name) for found in path.parent.glob("*.toml")]
            raise self._text.error((*key, "file"), unknown("job", section.file, near))
        if path.is_dir():
            raise self._text.error((*key, "file"), f"{section.file} is a folder; a job is a TOML file")
        job = load_job(path)
        for size in distinct(section.sizes, size_of(job)):
            resize = partial(sized, job, size)
            self._jobs[name, size] = job if section.sizes is None else self._at((*key, "sizes"), resize)

    def _point(self, number: int, made: _Machine, job: str, size: Size, engine: str, digest: str) -> Point | None:
        """The point, if it is one of the sweep's, and no other is the same."""
        facts: dict[str, int | str] = {
            "preset": made.preset, "job": job, "engine": engine, "height": size[0], "width": size[1],
            **{f"sets.{name}": member for name, member in made.sets.items()},
            **(settings_of(PRESETS[made.preset]) | made.changed),
        }  # fmt: skip
        if any(each.holds(facts) for each in self._conditions):
            self._count.left_out += 1
            return None
        problem = made.problem if made.config is None else _problem(made.config, self._jobs[job, size], engine)
        if problem or made.config is None:
            if self._sweep.impossible == "leave out":
                self._count.impossible += 1
                return None
            point = f"preset {made.preset}, job {job}, engine {engine}"
            hint = '[[leave_out]] or impossible = "leave out" omits it'
            raise self._text.error(made.key, f"{problem} ({point}); {hint}")
        identity = _identity(made.config, digest, engine, self._sweep)
        if identity in self._count.seen:
            self._count.repeated += 1
            return None
        self._count.seen.add(identity)
        return Point(
            number=number, identity=identity, preset=made.preset, sets=made.sets, changed=made.changed,
            config=made.config, job=job, size=size, engine=engine,
        )  # fmt: skip


def _told(items: Iterable[_Value], tell: Tell, what: str) -> Iterator[_Value]:
    """The items, the number of which is told now and then."""
    for number, item in enumerate(items, 1):
        if number % _TOLD == 0:
            tell(f"{number:,} {what} are checked ...")
        yield item


def _problem(config: MachineConfig, job: LoadedJob, engine: str) -> str:
    """Why a machine cannot run a job on an engine; empty if it can."""
    problem = draw_problem(job, engine, config)
    if problem:
        return problem
    try:
        check_kinds(job, config)
        if ENGINES[engine].counts_cycles:
            config.check_hardware()
    except MachineError:
        return f"the cores are {config.array.instruction_set}, the program of {job.path.name} is {job.kinds[0]}"
    except ValueError as error:
        return str(error)
    return ""


def _identity(config: MachineConfig, digest: str, engine: str, sweep: Sweep) -> str:
    text = json.dumps([settings_of(config), digest, engine, sweep.watchdog, sweep.max_cycles], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:_ID_DIGITS]
