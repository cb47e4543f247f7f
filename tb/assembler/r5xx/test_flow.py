"""Structured flow control against the manual's table of statements, pp. 38-40; words worked out by hand."""

import pytest

from ctm.tb.assembler.r5xx.assembly import assemble


def flow(text: str) -> list[tuple[int, int, int]]:
    """(word 0, FC_INST, FC_ADDR) of the flow-control instructions."""
    return [(words[0], words[2], words[3]) for words in assemble(text).instructions if words[0] & 3 == 2]


def inst_and_target(text: str) -> list[tuple[str, int]]:
    return [(f"{inst:08x}", address >> 16 & 0x1FF) for _, inst, address in flow(text)]


def test_if() -> None:
    assert inst_and_target("IF alu_result\nOUT\nENDIF\nOUT") == [("12000f00", 3), ("01010020", 3)]


def test_if_else() -> None:
    assert inst_and_target("IF alu_result\nOUT\nELSE\nOUT\nENDIF\nOUT") == [
        ("1a000f00", 3),
        ("04010010", 5),
        ("01010020", 5),
    ]


@pytest.mark.parametrize(
    ("condition", "word", "function", "address"),
    [
        ("alu_result", 0x402, 0x0F, 0),
        ("!alu_result", 0x402, 0xF0, 0),
        ("p.r", 0x412, 0x33, 0),
        ("!p.a", 0x42A, 0xCC, 0),
        ("b31", 0x402, 0x55, 31),
        ("!b5", 0x402, 0xAA, 5),
    ],
)
def test_conditions_of_if(condition: str, word: int, function: int, address: int) -> None:
    found = flow(f"IF {condition}\nOUT\nENDIF\nOUT")[0]
    assert found == (word, 0x12000000 | function << 8, 0x00030000 | address)


def test_loop() -> None:
    assert flow("LOOP i3\nOUT\nENDLOOP\nOUT") == [
        (0x402, 0x10000001, 0x00030300),
        (0x402, 0x1000FF22, 0x00010300),
    ]


def test_rep_and_its_break() -> None:
    assert flow("REP i31\nBREAK\nENDREP\nOUT") == [
        (0x402, 0x10000003, 0x00031F00),
        (0x402, 0x1000FF06, 0x00030000),
        (0x402, 0x1000FF24, 0x00011F00),
    ]


def test_break_and_continue_leave_the_levels_inside_the_loop() -> None:
    text = """
    IF b0
      LOOP i0
        IF p.r
          IF p.g
            BREAK
          ELSE
            CONTINUE IF !p.b
          ENDIF
        ENDIF
        BREAK IF alu_result
      ENDLOOP
    ENDIF
    OUT
    """
    found = flow(text)
    assert [f"{found[slot][1]:08x}" for slot in (4, 6, 9)] == ["1402ff05", "14023307", "1000f005"]
    assert [found[slot][2] >> 16 for slot in (4, 6, 9)] == [11, 10, 11]
    assert found[6][0] == 0x402 | 4 << 3


def test_call_and_return() -> None:
    text = "CALL sub\nOUT\n.end done\ndone: OUT\nsub: OUT\nRET"
    assert inst_and_target(text) == [("0000ff80", 3), ("0000ff40", 0)]
    executable = assemble(text)
    assert (executable.start, executable.end, executable.full_flow_control) == (0, 2, True)


def test_a_written_target_wins() -> None:
    assert inst_and_target("LOOP i0 -> here\nOUT\nhere: ENDLOOP -> 7\nOUT") == [("10000001", 2), ("1000ff22", 7)]


def test_offset_and_global_addresses() -> None:
    text = ".offset 2\nOUT\nOUT\nfirst: OUT\nFC JUMP -> first jump_func=ALWAYS\n" \
        "FC JUMP -> first jump_func=ALWAYS jump_global\nOUT"  # fmt: skip
    assert [address for _, _, address in flow(text)] == [0x00000000, 0x80020000]
    executable = assemble(text)
    assert (executable.offset, executable.start, executable.end) == (2, 0, 3)


@pytest.mark.parametrize(("depth", "full"), [(1, False), (6, False), (7, True)])
def test_deep_branches_need_full_flow_control(depth: int, full: bool) -> None:
    text = "IF b0\n" * depth + "OUT\n" + "ENDIF\n" * depth
    assert assemble(text).full_flow_control is full
    assert assemble(f".flow_control full\n{text}").full_flow_control
    assert not assemble(f".flow_control partial\n{text}").full_flow_control


def test_a_program_ends_with_an_output() -> None:
    assert [words[0] for words in assemble("ALU r1 = MOV(r0)").instructions] == [0x7800, 0x5]
    assert [words[0] for words in assemble("OUT o0 = MOV(r0)").instructions] == [0x78005]
    assert [words[0] & 3 for words in assemble("IF b0\nOUT\nENDIF").instructions] == [2, 1, 2, 1]
    assert len(assemble("OUT\nFC JUMP -> after\nOUT\nafter:").instructions) == 4
    assert len(assemble(".manual\nALU r1 = MOV(r0)").instructions) == 1
