/* The names of the kernels of tb/data/r700/llvm/c, by those of ctm/kernel.h. */
#include <ctm/kernel.h>

typedef vec2 f2;
typedef vec4 f4;
typedef ivec2 i2;
typedef ivec4 i4;
typedef uvec4 u4;
typedef uint u32;

static void rv_body(f4 r0);
kernel void rv_kernel(vec2 pixel) { rv_body((f4){pixel.x, pixel.y, 0, 1}); }
#define KERNEL static void rv_body(f4 r0)

#define RV_INLINE CTM_INLINE
#define rv_bits(x) as_uint((float)(x))
#define rv_float(x) as_float((u32)(x))
#define rv_tex(n, x, y) texel(n, (float)(x), (float)(y))
#define rv_out(t, v) output(t, v)
#define rv_outi(t, v) output(t, (i4)(v))
#define rv_const(n) constant(n)
#define rv_consti(n) as_int(constant(n))
RV_INLINE void rv_kill_lt0(float x) {
    if (x < 0) discard();
}
#define rv_rotl(x, n) rotate_left(x, n)
#define rv_dot4(a, b) dot(a, b)
#define rv_rsq(x) inversesqrt(x)
#define rv_rcp(x) (1.0f / (x))
#define rv_div(a, b) ((a) * rv_rcp(b))
#define rv_floor(x) floor(x)
#define rv_ceil(x) ceil(x)
#define rv_trunc(x) trunc(x)
#define rv_rint(x) rint(x)
#define rv_fract(x) fract(x)
#define rv_abs(x) abs((float)(x))
#define rv_min(a, b) min((float)(a), (float)(b))
#define rv_max(a, b) max((float)(a), (float)(b))
#define rv_sin(x) sin((float)(x))
#define rv_cos(x) cos((float)(x))
#define rv_exp2(x) exp2((float)(x))
#define rv_log2(x) log2((float)(x))
#define rv_sqrt(x) sqrt((float)(x))
