"""The JSON form of compiled R700 programs, what their code uses, and the prologue that gives them their registers."""

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctm.rtl.isa.limits import INPUTS
from ctm.sim.elf import Executable, ShaderError, describe, read_shader
from ctm.sim.elf.r700 import executable as r700
from ctm.sim.runtime.prologue.compiled import ready
from ctm.sim.runtime.prologue.r700 import with_prologue
from ctm.tb.r700.shaders import FILES

SMALL = {
    "dwords": ["0xc0000000", "0x94200688"],
    "gprs": 3,
    "stack": 2,
    "dx10_clamp": 1,
    "texture_base": 18,
    "inputs": [1, 0],
}
SAXPY = "saxpy_sb"


def an_executable(shader_executable: Executable) -> r700.Executable:
    """The same, known to be of this kind."""
    assert isinstance(shader_executable, r700.Executable)
    return shader_executable


def test_every_key_arrives() -> None:
    shader = read_shader(json.dumps(SMALL | {"constants": {"3": ["0x3f800000", 0, 0, 1]}}))
    executable = an_executable(shader.executable)
    assert executable.code == ((0xC0000000, 0x94200688),)
    assert (executable.gprs, executable.stack_size, executable.texture_base, executable.start) == (3, 2, 18, 0)
    assert executable.dx10_clamp and not (executable.depth or executable.memory or executable.scratch)
    assert shader.inputs == (0, 1)
    assert shader.float_constants == {3: (0x3F800000, 0, 0, 1)}
    assert shader.int_constants == {}


@pytest.mark.parametrize("name", FILES)
def test_real_programs_use_what_their_files_list(name: str) -> None:
    text = FILES[name].read_text()
    document = json.loads(text)
    shader = read_shader(text)
    executable = an_executable(shader.executable)
    notes = executable.notes
    # A fetch whose result is not needed may be removed.
    assert set(notes.inputs) <= {texture["input"] for texture in document["textures"]}
    assert notes.outputs == tuple(range(document["targets"]))
    assert notes.conditional_output == executable.depth == document["writes_depth"]
    assert set(notes.float_constants) <= set(shader.float_constants)
    assert not executable.uncached_writes and not executable.sees_wavefront_size
    described = describe(executable)
    assert described["slots"] >= described["groups"]
    assert described["slots"] + described["fetches"] > 0
    assert described["registers"] == max(1, document["gprs"])


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("gprs", None, "gprs: null is no number"),
        ("gprs", 125, "gprs: 125 is not 0..124"),
        ("stack", 65, "stack: 65 is not 0..64"),
        ("dx10_clamp", 2, "dx10_clamp: 2 is not 0..1"),
        ("texture_base", "x", "texture_base: 'x' is no number"),
        ("dwords", [], "dwords: must be a list of 2 to 16384 words, an even number"),
        ("dwords", [0, 0, 0], "dwords: must be a list of 2 to 16384 words, an even number"),
        ("dwords", [0, 2**32], "dwords[1]: 4294967296 is not 0..4294967295"),
        ("inputs", 3, "inputs: must be a list of registers"),
        ("inputs", [124], "inputs[0]: 124 is not 0..123"),
        ("constants", {"256": [0] * 4}, "constants.256: 256 is not 0..255"),
    ],
)
def test_messages_name_the_key(key: str, value: object, message: str) -> None:
    with pytest.raises(ShaderError) as caught:
        read_shader(json.dumps(SMALL | {key: value}))
    assert str(caught.value) == message


@pytest.mark.parametrize("key", ["gprs", "stack", "dx10_clamp", "texture_base"])
def test_a_missing_key_is_named(key: str) -> None:
    document = copy.deepcopy(SMALL)
    del document[key]
    with pytest.raises(ShaderError, match=f"^{key}: is missing"):
        read_shader(json.dumps(document))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
    max_leaves=10,
)


@given(st.sampled_from([*SMALL, "constants"]), JSON)
def test_any_value_is_read_or_an_error(key: str, value: object) -> None:
    try:
        read_shader(json.dumps(SMALL | {key: value}))
    except ShaderError as error:
        assert str(error).startswith(key)


def test_a_prologue_loads_the_highest_register_from_the_highest_free_input_and_r0_last() -> None:
    shader = read_shader(FILES["mrt4_sb"].read_text())
    before = an_executable(shader.executable)
    executable, inputs = ready(shader)
    after = an_executable(executable)
    assert inputs == {3: 15, 2: 14, 1: 13, 0: 12}
    assert after.code[: len(before.code)] == before.code
    assert after.start == len(before.code)
    assert set(after.notes.inputs) == {*before.notes.inputs, 12, 13, 14, 15}
    # FLT_TO_INT R0.x, FLT_TO_INT R0.y, one to a group, then LD of each at R0.xy, unnormalised, and the jump.
    words = after.code[after.start :]
    assert [unit for unit in words if unit[1] >> 7 & 0x7FF == 0x6B and unit[1] >> 15 & 7 == 0][:2] == [
        (0x80000000, 0x00003590),
        (0x80000400, 0x20003590),
    ]
    assert words[2] == (0, 0x85000100)


def test_a_program_without_inputs_needs_no_prologue() -> None:
    shader = read_shader(FILES["horner_llvm"].read_text())
    assert ready(shader) == (shader.executable, {})


def test_a_prologue_of_many_registers_has_several_clauses_and_of_too_many_is_an_error() -> None:
    plain = r700.Executable(code=((0xC0000000, 0x94200688),))
    executable, inputs = with_prologue(plain, range(INPUTS))
    assert len(inputs) == INPUTS
    assert describe(executable)["fetches"] == INPUTS
    assert executable.gprs == INPUTS
    with pytest.raises(ValueError, match="17 registers need as many inputs, but 16 are free"):
        with_prologue(plain, range(INPUTS + 1))
    full = r700.Executable(code=((0, 0),) * 8191 + ((0, 0x80200000),))
    with pytest.raises(ValueError, match="1 to 8192 units"):
        with_prologue(full, [0])
