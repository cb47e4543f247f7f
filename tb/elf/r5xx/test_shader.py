"""The JSON form of compiled shaders."""

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctm.sim.elf import ShaderError, read_shader
from ctm.sim.elf.r5xx.executable import Executable
from ctm.tb.elf.r5xx.programs import SHADERS

SMALL = {
    "instructions": [["0x00078005", 0, "0", "0", "0", "0x20490000"]],
    "start": 0,
    "end": 0,
    "highest_temporary": 1,
    "US_CONFIG": "0x2",
    "US_FC_CTRL": "0x80000000",
    "US_W_FMT": 0,
    "FG_DEPTH_SRC": 1,
}


def test_every_key_arrives() -> None:
    constants = {"float_constants": {"3": ["0x3f800000", 0, 0, 1]}, "int_constants": {"1": "0x000000ff"}}
    shader = read_shader(json.dumps(SMALL | constants))
    executable = shader.executable
    assert isinstance(executable, Executable)
    assert executable.instructions == ((0x00078005, 0, 0, 0, 0, 0x20490000),)
    assert (executable.start, executable.end, executable.highest_temporary) == (0, 0, 1)
    assert executable.zero_times_anything and executable.full_flow_control and executable.conditional_from_program
    assert executable.us_w_fmt == 0
    assert executable.notes.outputs == (0,)
    assert shader.float_constants == {3: (0x3F800000, 0, 0, 1)}
    assert shader.int_constants == {1: 0xFF}


def test_real_programs_use_what_their_files_list() -> None:
    for path in SHADERS:
        document = json.loads(path.read_bytes())
        shader = read_shader(path.read_bytes())
        notes = shader.executable.notes
        assert set(notes.inputs) == {texture["input"] for texture in document["textures"]}, path.name
        assert notes.outputs == tuple(range(document["targets"])), path.name
        assert notes.conditional_output == document["writes_depth"], path.name
        assert set(notes.float_constants) <= set(shader.float_constants), path.name
        assert set(notes.int_constants) <= set(shader.int_constants), path.name
        assert not notes.early_exit, path.name


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("start", None, "start: null is no number"),
        ("end", 512, "end: 512 is not 0..511"),
        ("US_CONFIG", "two", "US_CONFIG: 'two' is no number"),
        ("US_FC_CTRL", True, "US_FC_CTRL: true is no number"),
        ("instructions", [], "instructions: must be a list of 1 to 512 instructions"),
        ("instructions", [[0] * 5], "instructions[0]: must be a list of 6 words"),
        ("instructions", [[0] * 5 + [2**32]], "instructions[0][5]: 4294967296 is not 0..4294967295"),
        ("float_constants", [], "float_constants: must be an object, index -> value"),
        ("float_constants", {"256": [0] * 4}, "float_constants.256: 256 is not 0..255"),
        ("float_constants", {"0": [0] * 3}, "float_constants.0: must be a list of 4 words"),
        ("int_constants", {"x": 0}, "int_constants.x: 'x' is no number"),
    ],
)
def test_messages_name_the_key(key: str, value: object, message: str) -> None:
    with pytest.raises(ShaderError) as caught:
        read_shader(json.dumps(SMALL | {key: value}))
    assert str(caught.value) == message


@pytest.mark.parametrize("key", SMALL)
def test_a_missing_key_is_named(key: str) -> None:
    document = copy.deepcopy(SMALL)
    del document[key]
    with pytest.raises(ShaderError, match=f"^{key}: "):
        read_shader(json.dumps(document))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
    max_leaves=10,
)


@given(st.sampled_from([*SMALL, "float_constants", "int_constants"]), JSON)
def test_any_value_is_read_or_an_error(key: str, value: object) -> None:
    try:
        read_shader(json.dumps(SMALL | {key: value}))
    except ShaderError as error:
        assert str(error).startswith(key)


@given(st.text() | st.binary())
def test_random_text_is_an_error(text: str | bytes) -> None:
    with pytest.raises(ShaderError):
        read_shader(text)
