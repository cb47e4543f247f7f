/* What kernels that were written in Python need beyond ctm/kernel.h: arithmetic with the results of Python's. */
#pragma once

#include <ctm/kernel.h>

/* The remainder of x after y times a whole number near x / y is subtracted, for steps of division. Each product and sum
 * in it is exact: where both are rounded separately, y is split into two fields of 13 and 11 bits. */
#if defined(CTM_WHOLE_FLOATS)
#define CTM_REDUCED(x, y, times) ((x) - (times) * (y))
#else
CTM_INLINE float ctm_upper(float y) { return as_float(as_uint(y) & 0xfffff800u); }
#define CTM_REDUCED(x, y, times) (((x) - (times) * ctm_upper(y)) - (times) * ((y) - ctm_upper(y)))
#endif

/* The quotient of positive numbers, rounded down, and the remainder. The remainder is exact if the quotient is less
 * than CTM_LARGEST, and 0 otherwise. A step finds 11 bits of the quotient, rounded to nearest, so that the remaining
 * number has at most 24 bits. The last step rounds down a little more: y is not subtracted if half of it remains. */
#define CTM_LARGEST 0x1p31f
CTM_INLINE float ctm_divided(float x, float y, float *remainder) {
    /* The reciprocal of a large divisor would be zero, and so would the lower field of a small divisor. */
    float scale = y > 0x1p100f ? 0x1p-26f : y < 0x1p-100f ? 0x1p26f : 1.0f;
    float back = y > 0x1p100f ? 0x1p26f : y < 0x1p-100f ? 0x1p-26f : 1.0f;
    float least = y * scale, inverse = 1 / least, remaining = x * scale;
    float quotient = remaining * inverse, large = quotient, partial, whole = 0;
#if !defined(CTM_WHOLE_FLOATS)
    partial = quotient < 0x1p22f ? 0.0f : floor(quotient * 0x1p-22f + 0.5f) * 0x1p22f;
    remaining = CTM_REDUCED(remaining, least, partial);
    whole = partial;
    quotient = remaining * inverse;
#endif
    partial = abs(quotient) < 0x1p11f ? 0.0f : floor(quotient * 0x1p-11f + 0.5f) * 0x1p11f;
    remaining = CTM_REDUCED(remaining, least, partial);
    whole += partial;
    partial = floor(remaining * inverse + 0.49f);
    remaining = CTM_REDUCED(remaining, least, partial);
    whole += partial - (remaining < 0 ? 1.0f : 0.0f);
    remaining = (remaining + (remaining < 0 ? least : 0.0f)) * back;
    /* If x is infinite or y is zero, both results are NaN. */
    float nothing = (x - x) * inverse;
    *remainder = x < y ? x : large < CTM_LARGEST ? remaining : nothing;
    return x < y ? 0 : large < CTM_LARGEST ? whole : large + nothing;
}

/* Quotients rounded down, and remainders with the sign of the divisor. */
CTM_INLINE float ctm_quotient(float a, float b) {
    float remaining, quotient = ctm_divided(abs(a), abs(b), &remaining);
    return (a < 0) == (b < 0) ? quotient : -quotient - (remaining != 0 ? 1.0f : 0.0f);
}
CTM_INLINE float ctm_remainder(float a, float b) {
    float remaining;
    ctm_divided(abs(a), abs(b), &remaining);
    remaining = (a < 0) != (b < 0) && remaining != 0 ? abs(b) - remaining : remaining;
    return b < 0 ? -remaining : remaining;
}

/* The same for a divisor that is a power of two, at least 1: products with it are exact. */
CTM_INLINE float ctm_scaled_quotient(float a, float b) {
    float whole = floor(a * (1 / b));
    /* The product of a tiny number is zero; the quotient of an infinite one is NaN. */
    return (a < 0 && whole == 0 ? -1.0f : whole) + (a - a);
}
CTM_INLINE float ctm_scaled_remainder(float a, float b) { return a - ctm_scaled_quotient(a, b) * b; }

/* A power with a computed exponent. Of a negative number it is NaN unless the exponent is whole. */
CTM_INLINE float ctm_power(float x, float y) {
    float size = abs(x), half = 0.5f * y;
    float found = y == 0 || size == 1 ? 1.0f : exp2(y * log2(size));
    if (x < 0) {
        found = floor(half) == half ? found : -found;
        found = floor(y) == y ? found : __builtin_nanf("");
    }
    return found;
}

/* Comparisons of a number with sign and one without. The lesser one fits in int, the greater one in uint. */
CTM_INLINE int ctm_less(int a, uint b) { return a < 0 || (uint)a < b; }
CTM_INLINE int ctm_less(uint a, int b) { return b > 0 && a < (uint)b; }
CTM_INLINE int ctm_equal(int a, uint b) { return a >= 0 && (uint)a == b; }
CTM_INLINE int ctm_equal(uint a, int b) { return ctm_equal(b, a); }
CTM_INLINE int ctm_min(int a, uint b) { return ctm_less(a, b) ? a : (int)b; }
CTM_INLINE uint ctm_max(int a, uint b) { return ctm_less(a, b) ? b : (uint)a; }

/* The index of an item in a list: a negative one counts from the end. */
CTM_INLINE int ctm_index(int index, int length) { return index < 0 ? index + length : index; }

/* A component of a vector by a computed index. */
#define CTM_COMPONENTS(scalar, prefix) \
    CTM_INLINE scalar ctm_component(prefix##2 v, int k) { return k < 1 ? v.x : v.y; } \
    CTM_INLINE scalar ctm_component(prefix##3 v, int k) { return k < 2 ? ctm_component(v.xy, k) : v.z; } \
    CTM_INLINE scalar ctm_component(prefix##4 v, int k) { \
        scalar low = ctm_component(v.xy, k), high = ctm_component(v.zw, k - 2); \
        return k < 2 ? low : high; \
    }
CTM_COMPONENTS(float, vec)
CTM_COMPONENTS(int, ivec)
CTM_COMPONENTS(uint, uvec)
#undef CTM_COMPONENTS

/* Shifts with a computed count. A shift by more than 31 keeps no bit but the sign. */
CTM_INLINE int ctm_left(int x, uint count) { return count < 32 ? x << count : 0; }
CTM_INLINE uint ctm_left(uint x, uint count) { return count < 32 ? x << count : 0; }
CTM_INLINE uint ctm_right(uint x, uint count) { return count < 32 ? x >> count : 0; }
CTM_INLINE int ctm_right(int x, uint count) { return x >> (count < 32 ? count : 31); }
#define CTM_SHIFTS(size) \
    CTM_INLINE uvec##size ctm_left(uvec##size x, uvec##size count) { \
        return (x << (count & 31)) & __builtin_bit_cast(uvec##size, count < 32); \
    } \
    CTM_INLINE ivec##size ctm_left(ivec##size x, uvec##size count) { \
        return __builtin_bit_cast(ivec##size, ctm_left(__builtin_bit_cast(uvec##size, x), count)); \
    } \
    CTM_INLINE uvec##size ctm_right(uvec##size x, uvec##size count) { \
        return (x >> (count & 31)) & __builtin_bit_cast(uvec##size, count < 32); \
    } \
    CTM_INLINE ivec##size ctm_right(ivec##size x, uvec##size count) { \
        return x >> __builtin_bit_cast(ivec##size, __builtin_elementwise_min(count, (uvec##size)31)); \
    }
CTM_SHIFTS(2)
CTM_SHIFTS(3)
CTM_SHIFTS(4)
#undef CTM_SHIFTS

CTM_INLINE uint ctm_quotient(uint a, uint b) { return a / b; }
CTM_INLINE uint ctm_remainder(uint a, uint b) { return a % b; }

#if defined(CTM_WHOLE_FLOATS)
/* For a core whose whole numbers are floats: arguments and results are floats. A quotient that is off by one is found
 * by the remainder, which is exact. */
CTM_INLINE float ctm_whole_quotient(float a, float b) {
    float quotient = floor(a / b), remaining = a - quotient * b;
    if (b > 0 ? remaining < 0 : remaining > 0)
        quotient -= 1;
    if (b > 0 ? remaining >= b : remaining <= b)
        quotient += 1;
    return quotient;
}
CTM_INLINE float ctm_whole_remainder(float a, float b) { return a - ctm_whole_quotient(a, b) * b; }
CTM_INLINE int ctm_quotient(int a, int b) { return (int)ctm_whole_quotient((float)a, (float)b); }
CTM_INLINE int ctm_remainder(int a, int b) { return (int)ctm_whole_remainder((float)a, (float)b); }
CTM_INLINE uint ctm_uint(float x) { return (uint)(int)x; }

/* A result without sign that wrapped below 0 is stored as the negative number, which is exact. */
#define CTM_ARGUMENTS(whole, floats) \
    CTM_INLINE whole ctm_##whole##_argument(floats x) { return __builtin_convertvector(x, whole); } \
    CTM_INLINE floats ctm_result(whole x) { \
        return __builtin_convertvector(__builtin_convertvector(x, CTM_SIGNED_##whole), floats); \
    }
#define CTM_SIGNED_ivec2 ivec2
#define CTM_SIGNED_ivec3 ivec3
#define CTM_SIGNED_ivec4 ivec4
#define CTM_SIGNED_uvec2 ivec2
#define CTM_SIGNED_uvec3 ivec3
#define CTM_SIGNED_uvec4 ivec4
CTM_INLINE int ctm_int_argument(float x) { return (int)x; }
CTM_INLINE uint ctm_uint_argument(float x) { return (uint)x; }
CTM_INLINE float ctm_result(int x) { return (float)x; }
CTM_INLINE float ctm_result(uint x) { return (float)(int)x; }
#else
/* A float as its lowest 32 bits; what is negative wraps. */
CTM_INLINE uint ctm_uint(float x) { return x < 0 ? (uint)(int)x : (uint)x; }
CTM_INLINE int ctm_quotient(int a, int b) {
    /* The smallest number by -1 wraps, which C leaves open. */
    int divisor = b == -1 ? 1 : b, quotient = a / divisor;
    return b == -1 ? -a : quotient - ((a % divisor != 0) & ((a ^ b) < 0));
}
CTM_INLINE int ctm_remainder(int a, int b) {
    int remaining = a % (b == -1 ? 1 : b);
    return remaining + (((remaining != 0) & ((remaining ^ b) < 0)) ? b : 0);
}
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
CTM_INLINE uvec2 ctm_uint(vec2 x) { return (uvec2){ctm_uint(x.x), ctm_uint(x.y)}; }
CTM_INLINE uvec3 ctm_uint(vec3 x) { return (uvec3){ctm_uint(x.x), ctm_uint(x.y), ctm_uint(x.z)}; }
CTM_INLINE uvec4 ctm_uint(vec4 x) { return (uvec4){ctm_uint(x.x), ctm_uint(x.y), ctm_uint(x.z), ctm_uint(x.w)}; }

CTM_INLINE int ctm_bool_argument(float x) { return x != 0; }
