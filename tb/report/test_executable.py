"""What `ctm info` says of an executable."""

import json

from ctm.sim.assembler import assemble
from ctm.sim.elf import describe
from ctm.sim.report.executable import print_description

SOURCE = """
.zero_times_anything
    TEX r2 = LOOKUP(i4, r0.rg)
    LOOP i1
        IF b3
            ALU r7.rgb = ADD(r2, c16[aL])
        ENDIF
        IF p.r
        ENDIF
    ENDLOOP
    OUT o1 = MUL(r7, c9) last
    OUT o1.a, w = MOV(c10)
"""


def test_everything_that_is_used_is_described() -> None:
    description = describe(assemble(SOURCE))
    assert json.loads(json.dumps(description)) == description
    assert description["instructions"] == 10
    assert description["instructions_by_type"] == {"alu": 1, "output": 2, "fc": 6, "tex": 1}
    assert (description["start"], description["end"], description["offset"]) == (0, 9, 0)
    assert (description["temporaries"], description["temporaries_used"]) == (8, [0, 2, 7])
    assert (description["inputs"], description["outputs"]) == ([4], [1])
    assert (description["float_constants"], description["relative_constants"]) == ([9, 10], True)
    assert (description["int_constants"], description["bool_constants"]) == ([1], [3])
    assert (description["flow_control"], description["conditional_value"]) == ("full", "program")
    assert description["early_exit"] and description["zero_times_anything"] and description["conditional_output"]
    assert description["state"]["US_FC_CTRL"] == "0x80000000"


def test_the_table_has_runs_and_facts(capsys) -> None:
    facts = {"temporaries_used": [0, 1, 2, 7], "inputs": [], "outputs": [0], "early_exit": True}
    facts |= {"state": {"US_CONFIG": "0x2"}}
    print_description(facts)
    lines = [line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()]
    assert [" ".join(line).split() for line in lines] == [
        ["temporaries", "used", "numbers", "0-2,", "7"],
        ["inputs", "none"],
        ["outputs", "number", "0"],
        ["early", "exit", "yes"],
        ["state", "US_CONFIG", "0x2"],
    ]
