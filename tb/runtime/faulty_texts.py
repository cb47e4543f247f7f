"""Texts of programs that fault; see `faulty`."""

from ctm.rtl.isa.status import Status

ASSEMBLED = (
    ("r5xx", "an operation of the RGB unit", Status.ILLEGAL_INSTRUCTION, "", """
    ALU r1 = MOV(r0)
    ALU r1.rgb = MAD(r1, r1, r1) {rgba_inst.rgb_op=15} ; HERE
    OUT o0 = MOV(r1)
"""),
    ("r5xx", "an instruction of two lines", Status.ILLEGAL_INSTRUCTION, "", """
    ALU r1 = MOV(r0)

    ALU r2.rgb = MAD(r1, r1, r1) ; HERE
    || r2.a = MAX(r0, r1) {rgba_inst.rgb_op=14}
    OUT o0 = MOV(r2)
"""),
    ("r5xx", "a loop that is another's", Status.ILLEGAL_INSTRUCTION, "", """
.flow_control full
.constant i0 = 3, 0, 1
    FC REP -> after
    ALU r1 = MOV(r0)
    FC ENDLOOP -> after jump_any jump_func=ALWAYS ; HERE
after:
    OUT o0 = MOV(r1)
"""),
    ("r5xx", "a predicate of flow control", Status.ILLEGAL_INSTRUCTION, "", """
    ALU p.r[>=0] = MOV(r0)
    ALU r1 = MOV(r0)
    FC JUMP -> 3 {common.rgb_pred_sel=1} ; HERE
    OUT o0 = MOV(r1)
"""),
    ("r5xx", "a source", Status.ILLEGAL_INSTRUCTION, "", """
    IF b3
        ALU r1 = MOV(r0)
    ELSE
        ALU r1 = MOV(r0)
        ALU r1.rgb = ADD(r1, 2.0) {rgb_addr.addr1_rel=1} ; HERE
    ENDIF
    OUT o0 = MOV(r1)
"""),
    ("r5xx", "an empty stack", Status.STACK, "", """
.flow_control full
    ALU r1 = MOV(r0)
    FC JUMP a_op=POP jump_func=ALWAYS ; HERE
    OUT o0 = MOV(r1)
"""),
    ("r5xx", "a jump to itself", Status.WATCHDOG, "", """
    ALU r1 = MOV(r0)
back:
    FC JUMP -> back jump_func=ALWAYS jump_any ; HERE
    OUT o0 = MOV(r1)
"""),
    ("r5xx", "an input", Status.BUS_ERROR, "input", """
.equ position = r0.rg
    ALU r1 = MOV(r0)
    TEX r2 = LOOKUP(i0, position) unscaled ; HERE
    OUT o0 = ADD(r1, r2)
"""),
    ("r5xx", "a float constant", Status.BUS_ERROR, "floats", """
    ALU r1 = MOV(r0)
    ALU r1.rgb = MUL(r1, c3) ; HERE
    OUT o0 = MOV(r1)
"""),
    ("r700", "an operation", Status.ILLEGAL_INSTRUCTION, "", """.isa r700
    x: MOV R1.x, R0.x
    1 x: ADD R1.x, R1.x, 1.0
    y: ADD R1.y, R0.x, 1.0
.unchecked
    2 x: MOV R2.x, R1.x {alu_inst=127} ; HERE
    EXPORT PIX0, R1.xyxy
"""),
    ("r700", "an operand", Status.ILLEGAL_INSTRUCTION, "", """.isa r700
    LOOP
        IF PRED_SETGE R0.x, 0
            x: MOV R1.x, R0.x
.unchecked
            1 x: ADD R2.x, SEL[240].x, R1.x ; HERE
              y: MOV R2.y, R1.x
        ENDIF
    ENDLOOP
    EXPORT PIX0, R1.xyxy
"""),
    ("r700", "an export", Status.ILLEGAL_INSTRUCTION, "", """.isa r700
    x: MOV R1.x, R0.x
.unchecked
    EXPORT PIX9, R1.xxxx ; HERE
    EXPORT PIX0, R1.xxxx
"""),
    ("r700", "a CF operation", Status.ILLEGAL_INSTRUCTION, "", """.isa r700
.unchecked
    x: MOV R1.x, R0.x
    CF_30 ADDR(3) ; HERE
    EXPORT_DONE PIX0, R1.xxxx END_OF_PROGRAM
"""),
    ("r700", "a vertex instruction", Status.ILLEGAL_INSTRUCTION, "", """.isa r700
    LD R1.xyzw, R0.xy00, t0, s0 UNNORM
.unchecked
    VTX_3 R2.xyzw, R1.x, b0 ; HERE
    EXPORT PIX0, R1.xyzw
"""),
    ("r700", "more on the stack than there is", Status.STACK, "", """.isa r700
.stack 1
    IF PRED_SETGE R0.x, 0
        IF PRED_SETGE R0.x, 0
            IF PRED_SETGE R0.x, 0 ; HERE
                x: MOV R1.x, 1.0
            ENDIF
        ENDIF
    ENDIF
    EXPORT PIX0, R1.xxxx
"""),
    ("r700", "a break without a loop", Status.STACK, "", """.isa r700
.manual
    LOOP_BREAK ADDR(2) ; HERE
    NOP
    NOP END_OF_PROGRAM
"""),
    ("r700", "a clause after the code", Status.PC_RANGE, "", """.isa r700
.manual
    NOP
    ALU ADDR(200) CNT(4) ; HERE
    NOP END_OF_PROGRAM
"""),
    ("r700", "an endless loop", Status.WATCHDOG, "", """.isa r700
    LOOP ; HERE
    ENDLOOP ; HERE
    EXPORT PIX0, R0.xyzw
"""),
    ("r700", "an input", Status.BUS_ERROR, "input", """.isa r700
    x: MOV R1.x, R0.x
    LD R2.xyzw, R0.xy00, t0, s0 UNNORM ; HERE
    EXPORT PIX0, R2.xyzw
"""),
    ("r700", "a float constant", Status.BUS_ERROR, "floats", """.isa r700
    0 x: MUL R1.x, R0.x, R0.y
      y: MUL R1.y, R0.x, R0.y
    1 x: ADD R1.x, C3.x, R1.y ; HERE
    EXPORT PIX0, R1.xyxy
"""),
)  # fmt: skip
"""Instruction set, name, status, what has error responses, text."""

COMPILED = (
    ("kernel.c", "a texel", Status.BUS_ERROR, "input", """#include <ctm/kernel.h>
static vec4 look(vec2 position) {
    return texel(0, position); // HERE
}
kernel void k(vec2 pixel) {
    float x = pixel.x * 2;
    vec4 found = look(pixel);
    output(0, found * x);
}
"""),
    ("kernel.c", "a loop", Status.WATCHDOG, "", """#include <ctm/kernel.h>
kernel void k(vec2 pixel) {
    float x = pixel.x + 1;
    while (x > 0) // HERE
        x = x * 1.5f; // HERE
    output(0, x);
}
"""),
    ("kernel.c", "a constant", Status.BUS_ERROR, "floats", """#include <ctm/kernel.h>
kernel void k(vec2 pixel) {
    float x = pixel.x
        + constant(7).y; // HERE
    output(0, x);
}
"""),
    ("kernel.py", "a texel", Status.BUS_ERROR, "input", """from ctm import kernel
from ctm.language import Image, texel, vec2


def look(picture: Image, position: vec2) -> float:
    return texel(picture, position).x  # HERE


@kernel
def k(pixel: vec2, picture: Image) -> float:
    x = pixel.x * 2.0
    return look(picture, pixel) + x
"""),
    ("kernel.py", "a loop", Status.WATCHDOG, "", """from ctm import kernel
from ctm.language import vec2


@kernel
def k(pixel: vec2) -> float:
    x = pixel.x + 1.0
    while x > 0.0:  # HERE
        x = x * 1.5  # HERE
    return x
"""),
)  # fmt: skip
"""File, name, status, what has error responses, text."""
