"""A request for a kernel, and the response to it; both cross the border of a process as JSON."""

from dataclasses import dataclass, field

from pydantic import TypeAdapter

MOST_TEXT = 1 << 18
"""Characters of a source or of a job."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """A source, and what is to become of it.

    name
        The file's, without a folder; its ending says the language: .c, .py, or assembly.
    folder
        Where its own includes and the inputs of its job are; nowhere if it is "".
    job
        The text of the job that runs it; one is made up if it is "".
    isa, engine
        Which program runs on which engine; nothing runs without an engine.
    whole
        Whether the whole job runs, or a sample of its first launch, whose profile is taken.
    """

    text: str
    name: str
    folder: str = ""
    job: str = ""
    isa: str = ""
    engine: str = ""
    whole: bool = False

    def __post_init__(self) -> None:
        for noun, text in (("source", self.text), ("job", self.job)):
            if len(text) > MOST_TEXT:
                raise ValueError(f"the {noun} has {len(text):,} characters; {MOST_TEXT:,} are looked at")
            try:
                text.encode()
            except UnicodeEncodeError as error:
                line = text.count("\n", 0, error.start) + 1
                raise ValueError(f"the {noun} has half of a surrogate pair in line {line}, which is no text") from None


@dataclass(frozen=True, kw_only=True)
class Problem:
    """An error or a warning. `line` and `column` count from 1, 0 if unknown; `location` is another file."""

    message: str
    line: int = 0
    column: int = 0
    location: str = ""
    is_warning: bool = False


@dataclass(frozen=True, kw_only=True)
class Instruction:
    """An instruction: the unit of code at which it begins, its text, and its line of the source, 0 if it has none."""

    unit: int
    text: str
    line: int = 0


@dataclass(frozen=True, kw_only=True)
class Program:
    """What a source is in one instruction set: its instructions, or why there are none."""

    isa: str
    instructions: tuple[Instruction, ...] = ()
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What a line or an instruction cost: see `ctm.sim.profile.figures.Figures`; `waited` by cause, in lower case."""

    issues: int
    cost: int
    efficiency: float
    waited: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Picture:
    """An output: its name, its shape in words, its PNG in base64, and what is to be said of how it is shown."""

    name: str
    shape: str
    png: str
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Run:
    """A run. `extent` says how much of the job it was; `cycles` is None where the engine counts none."""

    isa: str
    engine: str
    extent: str
    cycles: int | None
    instructions: int
    whole: Cost
    lines: dict[int, Cost] = field(default_factory=dict)
    units: dict[int, Cost] = field(default_factory=dict)
    advice: tuple[str, ...] = ()
    pictures: tuple[Picture, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Explored:
    """What became of a request: programs, a run if one was wanted, the job it ran with, and what went wrong.

    `failure` is a sentence; it has no line.
    """

    programs: tuple[Program, ...] = ()
    run: Run | None = None
    job: str = ""
    problems: tuple[Problem, ...] = ()
    failure: str = ""


REQUEST = TypeAdapter(Request)
EXPLORED = TypeAdapter(Explored)
