"""What is said of a job that is shaped wrongly: in the words of TOML, whatever stands at whichever key."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ctm.sim.jobs.error import JobError
from ctm.sim.jobs.reading import JobText

FOREIGN = re.compile(
    r"tuple|validat|instance|input should|dictionary|\bdict\b|\blist\b|\bstr\b|\bint\b|None|pydantic|type=|True|False"
    r"|NoneType|\(\)|unicode|parse|float\(|Tuple|mapping",
)
"""Words of Python and of libraries."""
JOB: dict[str, Any] = {
    "program": {"file": '"a.s"', "isa": '"r5xx"'},
    "inputs": [{"index": "0", "file": '"x.npy"', "format": '"FLOAT32_4"', "tiling": '"LINEAR"', "memory": '"local"'}],
    "outputs": [
        {
            "index": "0", "file": '"y.npy"', "shape": "[5, 13]", "format": '"FLOAT32_4"', "tiling": '"LINEAR"',
            "memory": '"local"', "fill": "0.0", "initial": '"z.npy"',
        },
    ],
    "constants": {"float": "{0 = [1.0, 2.0, 3.0, 4.0]}", "int": "{0 = [1, 2, 3]}", "bool": "{0 = true}"},
    "conditional": {
        "location": '"PE"', "test": '"LESS"', "value": "0.5", "file": '"d.npy"', "initial": '"e.npy"',
        "shape": "[5, 13]", "format": '"FLOAT32_1"', "tiling": '"LINEAR"', "memory": '"local"', "write": "true",
    },
    "masks": {"output": "[true, true, true, true]"},
    "passes": [
        {
            "domain_i": "[0, 1]", "domain_j": "[0, 1]", "program": '"b.s"', "repeat": "2", "swap": "[[0, 0]]",
            "constants": "{float = {1 = [1.0, 2.0, 3.0, 4.0]}}",
        },
    ],
}  # fmt: skip
"""All keys that there are but for [domain]."""
VALUES = (
    "3", "-1", "2.5", "nan", "1e999", "true", '"text"', '""', "[]", "[1]", "[1, 2, 3]", '["a", "b"]', "[[1, 2], [3]]",
    "[1.5, 2.5]", "[true, true]", "{a = 1}", "{0 = 1}", "{0 = [1]}", "{0 = [1, 2, 3]}", "{0 = [1, 2, 3, true]}",
    "{0 = [1, 2, 3, 4]}", "{-1 = [1, 2, 3, 4]}", "{0 = []}", "{0 = {}}", "1979-05-27", "07:32:00",
    "1979-05-27T07:32:00", "9" * 400, "9" * 5000, "[{}]", "[[]]", "[[0, 0, 0]]", "[[16, 16]]", "{float = 3}",
    "{float = {0 = 2.0}}",
)  # fmt: skip


def text_of(job: dict[str, Any]) -> str:
    lines: list[str] = []
    for name, section in job.items():
        for each in section if isinstance(section, list) else [section]:
            lines.append(f"[[{name}]]" if isinstance(section, list) else f"[{name}]")
            lines += [f"{key} = {value}" for key, value in each.items()]
    return "\n".join(lines)


def complaint(folder: Path, text: str) -> str | None:
    """What is said of a job's shape; None if it is right."""
    path = folder / "job.toml"
    path.write_text(text)
    try:
        JobText(path).parse()
    except JobError as error:
        return str(error).removeprefix(f"{folder}/")
    return None


def without_key(said: str) -> str:
    """The sentence, but for keys that have the names of Python's types."""
    return (said.partition(": ")[2].partition(": ")[2] or said).removesuffix("; there is float, int, bool")


def changed(name: str, key: str, value: str | None) -> str:
    """The job with another value at a key, or without it."""
    job: dict[str, Any] = {
        section: [dict(each) for each in found] if isinstance(found, list) else dict(found)
        for section, found in JOB.items()
    }
    section = job[name][0] if isinstance(job[name], list) else job[name]
    if value is None:
        del section[key]
    else:
        section[key] = value
    return text_of(job)


def keys() -> Iterator[tuple[str, str]]:
    for name, section in JOB.items():
        yield from ((name, key) for key in (section[0] if isinstance(section, list) else section))


def test_the_job_is_right_but_for_what_excludes_each_other(tmp_path: Path) -> None:
    assert complaint(tmp_path, text_of(JOB)) == "job.toml:10: outputs[0]: fill and initial exclude each other"
    assert complaint(tmp_path, changed("outputs", "fill", None)) is None


@pytest.mark.parametrize(("name", "key"), list(keys()))
def test_every_value_at_every_key_is_right_or_is_told_in_words_of_toml(tmp_path: Path, name: str, key: str) -> None:
    for value in VALUES:
        said = complaint(tmp_path, changed(name, key, value))
        if said is not None:
            assert said.startswith("job.toml:"), (value, said)
            assert not FOREIGN.search(without_key(said)), (value, said)
            assert len(said) < 300, (value, said)


@pytest.mark.parametrize("name", [*JOB, "domain"])
def test_every_section_may_be_something_else(tmp_path: Path, name: str) -> None:
    others = {section: found for section, found in JOB.items() if section not in (name, "passes")}
    others_text = text_of(others | {"domain": {"i": "[0, 1]", "j": "[0, 1]"}} if name != "domain" else others)
    for value in VALUES:
        said = complaint(tmp_path, f"{name} = {value}\n{others_text}")
        if said is not None:
            assert said.startswith("job.toml:"), (value, said)
            assert not FOREIGN.search(without_key(said)), (value, said)


@pytest.mark.parametrize("text", ["a = [\n\n  1,", "[program]\n[domain", '[program]\nfile = """a'])
def test_text_that_ends_too_early_names_its_last_line(tmp_path: Path, text: str) -> None:
    lines = text.count("\n") + 1
    assert str(complaint(tmp_path, text)).startswith(f"job.toml:{lines}: ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[inputs]\nindex = 0", "job.toml:3: inputs: there may be several: write [[inputs]] instead of [inputs]"),
        ("[outputs]\nindex = 0", "outputs: there may be several: write [[outputs]] instead of [outputs]"),
        ("[passes]\nrepeat = 1", "passes: there may be several: write [[passes]] instead of [passes]"),
        ("[[domain]]\ni = [0, 1]", "job.toml:3: domain: there is only one: write [domain] instead of [[domain]]"),
        ("[[constants]]\n", "constants: there is only one: write [constants] instead of [[constants]]"),
        ("[[masks]]\n", "masks: there is only one: write [masks] instead of [[masks]]"),
        ("[domain]\ni = [0, 7, 1]\nj = [0, 1]", "domain.i: takes two numbers [first, last], not an array of 3 values"),
        ("[domain]\ni = [7]\nj = [0, 1]", "domain.i: takes two numbers [first, last], not an array of one value"),
        ("[domain]\ni = []\nj = [0, 1]", "domain.i: takes two numbers [first, last], not an array of no values"),
        ("[domain]\ni = 7\nj = [0, 1]", "job.toml:4: domain.i: takes two numbers [first, last], not 7"),
        ("[domain]\ni = [0, 1.5]\nj = [0, 1]", "domain.i[1]: must be a whole number, not 1.5"),
        ("[domain]\ni = [0, true]\nj = [0, 1]", "domain.i[1]: must be a whole number, not true"),
        ('[domain]\ni = [0, "1"]\nj = [0, 1]', 'domain.i[1]: must be a whole number, not the string "1"'),
        ("[domain]\ni = [-1, 1]\nj = [0, 1]", "domain.i[0]: must be greater than or equal to 0, not -1"),
        ("[domain]\ni = [0, 1]\nj = [0, 1]\nk = 1", "job.toml:6: domain.k: unknown key; there is i, j"),
        ("[constants]\nfloat = {0 = 2.0}", "constants.float.0: takes four numbers, one for each channel, not 2.0"),
        ("[constants]\nfloat = {0 = [2.0]}", "takes four numbers, one for each channel, not an array of one value"),
        (
            "[constants]\nfloat = {0 = [1e39, 0, 0, 0]}",
            "float.0[0]: 1e+39 is too large for a float, which holds",
        ),
        (
            "[constants]\nfloat = {0 = [1e400, 0, 0, 0]}",
            "job.toml:4: 1e400 is too large for a number; infinity is inf",
        ),
        ("[constants]\nfloat = [2.0]", "constants.float: takes a table by index, as {0 = [1.0, 2.0, 3.0, 4.0]}, or"),
        ("[constants]\nint = {0 = [1, 2]}", "constants.int.0: takes three numbers [count, first aL, step], not an arr"),
        ("[constants]\nint = {0 = 255}", "constants.int.0: takes three numbers [count, first aL, step], not 255"),
        ("[constants]\nbool = {0 = 1}", "constants.bool.0: must be true or false, not 1"),
        ("[constants]\nbool = [true]", "constants.bool: takes a table by index, as {3 = true}, not an array of one"),
        ("[constants]\nflaot = {}", "constants.flaot: unknown key; did you mean 'float'?"),
        ("[constants]\nfloat = {x = [0, 0, 0, 0]}", "constants.float.x: must be a number 0..255"),
        ("[masks]\noutput = [true]", "masks.output: takes four of true and false, one for each channel, not an array"),
        ("[masks]\noutput = true", "masks.output: takes four of true and false, one for each channel, not true"),
        ("[masks]\noutput = [1, 1, 1, 1]", "masks.output[0]: must be true or false, not 1"),
        (
            "[[passes]]\ndomain_i = [0, 1]\ndomain_j = [0, 1]\nswap = [0, 0]",
            "passes[0].swap[0]: takes two numbers [out",
        ),
        (
            "[[passes]]\ndomain_i = [0, 1]\ndomain_j = [0, 1]\nswap = 1",
            "passes[0].swap: takes pairs of numbers [[outpu",
        ),
        (
            "[[passes]]\ndomain_i = [0, 1]\ndomain_j = [0, 1]\nrepeat = 0",
            "passes[0].repeat: must be greater than or eq",
        ),
        ("[[passes]]\ndomain_i = [0, 1]\ndomain_j = [0, 1]\nconstants = 1", "passes[0].constants: is a table: write"),
        ("[conditional]\nlocation = 1\ntest = 'LESS'", "conditional.location: must be one of"),
        ("[conditional]\nlocation = 'PE'\ntest = 'less'", 'not the string "less"; did you mean LESS?'),
        ("[conditional]\nlocation = 'PE'\ntest = 'LESS'\nwrite = 1", "conditional.write: must be true or false, not 1"),
        (
            "[conditional]\nlocation = 'PE'\ntest = 'LESS'\nformat = 'FLOAT32_2'",
            'conditional.format: must be one of FLOAT32_1, UINT16_1, not the string "FLOAT32_2"',
        ),
        ("[[inputs]]\nindex = 0\nfile = 1\nformat = 'FLOAT32_4'", "inputs[0].file: must be a string, not 1"),
        ("[[inputs]]\nindex = '0'\nfile = 'x'\nformat = 'FLOAT32_4'", "inputs[0].index: must be a whole number, not"),
        ("[[inputs]]\nindex = 0\nfile = 'x'\nformat = 'FLOAT32'", 'not the string "FLOAT32"; did you mean FLOAT32_'),
        (
            "[[inputs]]\nindex = 0\nfile = 'x'\nformat = 'FLOAT32_4'\nmemory = 'locl'",
            "inputs[0].memory: must be 'local' or 'system', not the string \"locl\"",
        ),
        (
            "[[outputs]]\nindex = 0\nfile = 'x'\nformat = 'FLOAT32_4'\nshape = 5",
            "outputs[0].shape: takes two numbers [height, width], not 5",
        ),
        (
            "[[outputs]]\nindex = 0\nfile = 'x'\nformat = 'FLOAT32_4'\nshape = [5, 5]\nfill = '7'",
            'outputs[0].fill: must be a number, not the string "7"',
        ),
        ("[conditionl]\n", "conditionl: unknown key; did you mean 'conditional'?"),
        ("[what]\n", "what: unknown key; there is program, domain, passes, inputs, outputs"),
        ("[domain]\ni = [0, 1]\n[domain]\nj = [0, 1]", "job.toml:5: Cannot declare domain twice"),
    ],
)
def test_what_is_said(tmp_path: Path, text: str, message: str) -> None:
    said = complaint(tmp_path, f'[program]\nfile = "a.s"\n{text}')
    assert said is not None
    assert message in said


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('program = "a.s"', 'program: is a table: write [program], and its keys on the lines below, not the string "a'),
        ("inputs = 3", "inputs: are tables: write [[inputs]] above the keys of each, not 3"),
        ("inputs = [1]", "inputs: are tables: write [[inputs]] above the keys of each, not an array of one value"),
        ("x = " + "[" * 5000, "job.toml: arrays or tables are too deeply nested"),
        ("x = " + "9" * 5000, "job.toml: a number has too many digits"),
    ],
)
def test_what_is_said_of_what_is_no_section(tmp_path: Path, text: str, message: str) -> None:
    said = complaint(tmp_path, text if text.startswith(("program", "x")) else f"program.file = 'a.s'\n{text}")
    assert said is not None
    assert message in said
