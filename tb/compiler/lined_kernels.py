"""Kernels of which each line says what it becomes: operations of R5xx cores, a bar, those of R700 cores.

What has a question mark may be there, and everything else must. Of an R5xx instruction that does two things, one has to
be its line's.
"""

C = (
    """#include <ctm/kernel.h>
static float weigh(float x, float w) {
    float y = x * w;                                // MUL | MUL_IEEE?
    return y + 0.25f;                               // ADD | ADD? MULADD_IEEE?
}
kernel void rounds(vec2 pixel) {
    float sum = 0;                                  // MOV? | MOV?
    float x = pixel.x * 0.125f;                     // MUL MOV? | MUL_IEEE
    float z = pixel.y;
    for (int n = 0; n < 12; n++) {                  // REP ENDREP MOV? | LOOP MOV? ADD_INT TEST
        float t = weigh(x, z);
        if (t > 8)                                  // TEST BREAK | SETGT_DX10 TEST
            break;
        sum += t;                                   // ADD | ADD
        x = x * 1.5f;                               // MUL? MOV? | MUL_IEEE
    }
    vec4 texture = texel(0, pixel.x, pixel.y);      // LOOKUP | SAMPLE
    if (sum > 4)                                    // ADD MIN? CMP | SETGT CNDE ADD
        sum = sum + texture.x;
    else
        sum = sum - texture.y;
    output(0, sum                                   // MOV | EXPORT_DONE
        + length(texture.xyz));                     // DP3 RSQ? RCP? ADD | DOT4_IEEE RECIPSQRT_IEEE RECIP_IEEE ADD
}
""",
    """#include <ctm/kernel.h>
kernel void mandelbrot(vec2 pixel) {
    float cr = pixel.x * 0.01f;                     // MUL MOV? | MUL_IEEE
    float ci = pixel.y * 0.02f;                     // MUL? MOV? | MUL_IEEE
    float x = 0, y = 0;
    int count = 0;
    while (count < 50) {                            // REP ENDREP | LOOP MOV? TEST
        float xx = x * x;                           // MUL | MUL_IEEE
        float yy = y * y;                           // MUL? | MUL_IEEE
        if (xx + yy > 4)                            // ADD TEST BREAK | ADD SETGT_DX10 TEST MOV?
            break;
        y = 2 * x * y + ci;                         // ADD? MUL? MOV? MAD? | ADD MULADD_IEEE
        x = xx - yy + cr;                           // ADD | ADD
        count++;                                    // ADD? | ADD_INT MOV?
    }
    output(0, (float)count);                        // MOV | UINT_TO_FLT EXPORT_DONE
}
""",
    """#include <ctm/kernel.h>
kernel void nested(vec2 pixel) {
    float sum = 0.0f;                               // MOV? | MOV?
    for (int j = 0; j < 4; j++) {                   // REP ENDREP ADD? MOV? | LOOP TEST ADD_INT MOV?
        float row = sqrt(pixel.y);                  // RSQ RCP MOV? | RECIPSQRT_IEEE RECIP_IEEE
        for (int i = 0; i < 8; i++) {               // REP ENDREP ADD? MOV? | LOOP TEST ADD_INT MOV?
            vec4 t = texel(0, vec2(i, j));          // LOOKUP | SAMPLE UINT_TO_FLT
            if (t.x > row)                          // ADD MIN CMP | SETGT CNDE
                continue;
            sum += t.y;                             // ADD? | ADD
        }
        sum = sum * 0.5f;                           // MUL | MUL_IEEE
    }
    if (sum < 1.0f)                                 // TEST IF ENDIF | TEST SETGT_DX10
        discard();                                  // KILL_LT_0 MOV | KILLGT
    output(0, vec4(sum, exp2(sum),                  // MOV EX2 MIN? | EXPORT_DONE EXP_IEEE SETGT? CNDE? ADD? MUL_IEEE?
        min(sum, 3.0f), 1.0f));                     // MIN? | MIN
}
""",
    """#include <ctm/kernel.h>
static float left(float v) {
    return floor(v) * 3.0f;                         // MIN? FRC? ADD CMP? MUL | FLOOR MUL_IEEE
}
static float right(float v) {
    return fract(v) + 7.0f;                         // MIN? FRC? ADD CMP? | FLOOR ADD
}
kernel void branches(vec2 pixel) {
    float r;
    if (pixel.x > pixel.y) {                        // TEST IF ELSE ENDIF | TEST SETGT_DX10 NOT_INT? MOV? SETE_INT?
        r = left(pixel.x);
        if (r > 100.0f)                             // TEST IF ENDIF | TEST SETGT_DX10 NOT_INT? MOV?
            r = texel(0, pixel).x;                  // LOOKUP | SAMPLE
    } else {
        r = right(pixel.y);
        r = max(r, pixel.x);                        // MAX? | MAX MOV?
    }
    output(0, r);                                   // MOV | EXPORT
    output(1, r * 0.125f);                          // MUL MOV | MUL_IEEE EXPORT_DONE
}
""",
)

PYTHON = (
    """from ctm import kernel
from ctm.language import Image, exp2, sqrt, texel, vec2


def weigh(x: float, w: float) -> float:
    y = x * w                                       # MUL | MUL_IEEE?
    return y + 0.25                                 # ADD | ADD? MULADD_IEEE?


@kernel
def rounds(pixel: vec2, picture: Image) -> float:
    total = 0.0                                     # MOV? | MOV?
    x = pixel.x * 0.125                             # MUL MOV? | MUL_IEEE
    for n in range(12):                             # REP ENDREP | LOOP MOV? ADD_INT TEST
        t = weigh(x, pixel.y)
        if t > 8.0:                                 # TEST? BREAK | SETGT_DX10 TEST MOV?
            break
        total += sqrt(t)                            # RSQ? RCP? ADD | RECIPSQRT_IEEE RECIP_IEEE ADD
        x = x * 1.5                                 # MUL? MOV? | MUL_IEEE
    element = texel(picture, pixel)                 # LOOKUP | SAMPLE
    if total > 4.0:                                 # ADD MIN? CMP | SETGT CNDE
        total = total * element.x                   # MUL? | MUL_IEEE
    while total > 2.0:                              # REP ENDREP BREAK ADD? TEST? | LOOP TEST SETGT_DX10 NOT_INT?
        total = total - exp2(element.y)             # EX2 ADD | EXP_IEEE ADD SETGT? CNDE? MUL_IEEE?
    return total                                    # MOV | EXPORT_DONE
""",
    """from ctm import kernel
from ctm.language import Image, clamp, dot, ivec2, normalize, texel, unroll, vec2, vec3


@kernel
def shaded(pixel: ivec2, picture: Image) -> vec3:
    light = normalize(vec3(1.0, 2.0, 3.0))          # DP3 RSQ? MUL MOV? | DOT4_IEEE RECIPSQRT_IEEE MUL_IEEE ADD?
    around = vec3(0.0)
    for n in unroll(range(3)):
        beside = vec2(pixel) + vec2(n, 0)           # ADD? | ADD? INT_TO_FLT? FLT_TO_INT?
        around += texel(picture, beside).xyz        # LOOKUP ADD | SAMPLE ADD MOV?
    strength = clamp(dot(around, light), 0.0, 1.0)  # DP3 MAX MIN | DOT4_IEEE MAX MIN
    if strength < 0.5:                              # MAX | MAX
        strength = 0.5
    return around * strength                        # MUL MOV | MUL_IEEE EXPORT_DONE
""",
)
