/* What kernels that were written in Python need beyond ctm/kernel.h: numbers as Python has them. */
#pragma once

#include <ctm/kernel.h>

/* Quotients rounded down and remainders with the sign of the divisor. The quotient of floats may be one off where a
 * division is not exact, which shows in the remainder. */
CTM_INLINE float ctm_quotient(float a, float b) {
    float quotient = floor(a / b), rest = a - quotient * b;
    if (b > 0 ? rest < 0 : rest > 0)
        quotient -= 1;
    if (b > 0 ? rest >= b : rest <= b)
        quotient += 1;
    return quotient;
}
CTM_INLINE float ctm_remainder(float a, float b) { return a - ctm_quotient(a, b) * b; }

#if defined(CTM_WHOLE_FLOATS)
/* A core whose whole numbers are floats: they are given and stored as such. */
CTM_INLINE int ctm_quotient(int a, int b) { return (int)ctm_quotient((float)a, (float)b); }
CTM_INLINE int ctm_remainder(int a, int b) { return (int)ctm_remainder((float)a, (float)b); }
CTM_INLINE uint ctm_quotient(uint a, uint b) { return (uint)ctm_quotient((float)a, (float)b); }
CTM_INLINE uint ctm_remainder(uint a, uint b) { return (uint)ctm_remainder((float)a, (float)b); }

#define CTM_ARGUMENTS(whole, floats) \
    CTM_INLINE whole ctm_##whole##_argument(floats x) { return __builtin_convertvector(x, whole); } \
    CTM_INLINE floats ctm_result(whole x) { return __builtin_convertvector(x, floats); }
CTM_INLINE int ctm_int_argument(float x) { return (int)x; }
CTM_INLINE uint ctm_uint_argument(float x) { return (uint)x; }
CTM_INLINE float ctm_result(int x) { return (float)x; }
CTM_INLINE float ctm_result(uint x) { return (float)x; }
#else
CTM_INLINE int ctm_quotient(int a, int b) {
    int quotient = a / b;
    return quotient - ((a % b != 0) & ((a ^ b) < 0));
}
CTM_INLINE int ctm_remainder(int a, int b) {
    int rest = a % b;
    return rest + (((rest != 0) & ((rest ^ b) < 0)) ? b : 0);
}
CTM_INLINE uint ctm_quotient(uint a, uint b) { return a / b; }
CTM_INLINE uint ctm_remainder(uint a, uint b) { return a % b; }

#define CTM_ARGUMENTS(whole, floats) \
    CTM_INLINE whole ctm_##whole##_argument(floats x) { return __builtin_bit_cast(whole, x); } \
    CTM_INLINE floats ctm_result(whole x) { return __builtin_bit_cast(floats, x); }
CTM_ARGUMENTS(int, float)
CTM_ARGUMENTS(uint, float)
#endif
CTM_ARGUMENTS(ivec2, vec2)
CTM_ARGUMENTS(ivec3, vec3)
CTM_ARGUMENTS(ivec4, vec4)
CTM_ARGUMENTS(uvec2, vec2)
CTM_ARGUMENTS(uvec3, vec3)
CTM_ARGUMENTS(uvec4, vec4)
#undef CTM_ARGUMENTS

CTM_INLINE int ctm_bool_argument(float x) { return x != 0; }
