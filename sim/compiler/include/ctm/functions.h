/* Functions of shading languages, of scalars and of each component of vectors. */
#pragma once

#define CTM_UNARY(name, builtin) \
    CTM_INLINE float name(float x) { return builtin(x); } \
    CTM_INLINE vec2 name(vec2 x) { return builtin(x); } \
    CTM_INLINE vec3 name(vec3 x) { return builtin(x); } \
    CTM_INLINE vec4 name(vec4 x) { return builtin(x); }
CTM_UNARY(abs, __builtin_elementwise_abs)
CTM_UNARY(floor, __builtin_elementwise_floor)
CTM_UNARY(ceil, __builtin_elementwise_ceil)
CTM_UNARY(trunc, __builtin_elementwise_trunc)
CTM_UNARY(rint, __builtin_elementwise_rint)
CTM_UNARY(sqrt, __builtin_elementwise_sqrt)
CTM_UNARY(sin, __builtin_elementwise_sin)
CTM_UNARY(cos, __builtin_elementwise_cos)
CTM_UNARY(exp2, __builtin_elementwise_exp2)
CTM_UNARY(log2, __builtin_elementwise_log2)
#define CTM_FRACT(x) ((x) - __builtin_elementwise_floor(x))
CTM_UNARY(fract, CTM_FRACT)
#define CTM_EXP(x) __builtin_elementwise_exp2((x) * 1.44269504f)
CTM_UNARY(exp, CTM_EXP)
#define CTM_LOG(x) (__builtin_elementwise_log2(x) * 0.69314718f)
CTM_UNARY(log, CTM_LOG)
#undef CTM_FRACT
#undef CTM_EXP
#undef CTM_LOG
#undef CTM_UNARY
CTM_INLINE float inversesqrt(float x) { return ctm_inversesqrt(x); }
CTM_INLINE float sign(float x) { return x > 0 ? 1.0f : x < 0 ? -1.0f : 0.0f; }

/* The first operand, unless the second one is less (min) or greater (max): so the first one where one is NaN. */
#define CTM_EXTREME(type) \
    CTM_INLINE type min(type a, type b) { return b < a ? b : a; } \
    CTM_INLINE type max(type a, type b) { return b > a ? b : a; } \
    CTM_INLINE type clamp(type x, type low, type high) { return min(max(x, low), high); }
CTM_EXTREME(float)
CTM_EXTREME(int)
CTM_EXTREME(uint)
#undef CTM_EXTREME
#define CTM_EACH(function) \
    CTM_INLINE vec2 function(vec2 a, vec2 b) { return (vec2){function(a.x, b.x), function(a.y, b.y)}; } \
    CTM_INLINE vec3 function(vec3 a, vec3 b) { return (vec3){function(a.x, b.x), function(a.y, b.y), function(a.z, b.z)}; } \
    CTM_INLINE vec4 function(vec4 a, vec4 b) { \
        return (vec4){function(a.x, b.x), function(a.y, b.y), function(a.z, b.z), function(a.w, b.w)}; \
    }
CTM_EACH(min)
CTM_EACH(max)
#undef CTM_EACH
#define CTM_CLAMP(type) CTM_INLINE type clamp(type x, type low, type high) { return min(max(x, low), high); }
CTM_CLAMP(vec2)
CTM_CLAMP(vec3)
CTM_CLAMP(vec4)
#undef CTM_CLAMP

CTM_INLINE float pow(float x, float y) { return exp2(y * log2(x)); }
CTM_INLINE float mod(float x, float y) { return x - y * floor(x / y); }
CTM_INLINE float step(float edge, float x) { return x < edge ? 0.0f : 1.0f; }
CTM_INLINE float mix(float a, float b, float t) { return a + (b - a) * t; }
CTM_INLINE vec2 mix(vec2 a, vec2 b, float t) { return a + (b - a) * t; }
CTM_INLINE vec3 mix(vec3 a, vec3 b, float t) { return a + (b - a) * t; }
CTM_INLINE vec4 mix(vec4 a, vec4 b, float t) { return a + (b - a) * t; }
CTM_INLINE float smoothstep(float low, float high, float x) {
    float t = clamp((x - low) / (high - low), 0.0f, 1.0f);
    return t * t * (3.0f - 2.0f * t);
}

/* One operation of the machine: the sum is rounded once. */
CTM_INLINE float dot(vec4 a, vec4 b) { return ctm_dot(a, b); }
CTM_INLINE float dot(vec3 a, vec3 b) { return ctm_dot((vec4){a.x, a.y, a.z, 0}, (vec4){b.x, b.y, b.z, 0}); }
CTM_INLINE float dot(vec2 a, vec2 b) { return ctm_dot((vec4){a.x, a.y, 0, 0}, (vec4){b.x, b.y, 0, 0}); }

#define CTM_GEOMETRY(type) \
    CTM_INLINE float length(type v) { return sqrt(dot(v, v)); } \
    CTM_INLINE float distance(type a, type b) { return length(a - b); } \
    CTM_INLINE type normalize(type v) { return v * inversesqrt(dot(v, v)); }
CTM_GEOMETRY(vec2)
CTM_GEOMETRY(vec3)
CTM_GEOMETRY(vec4)
#undef CTM_GEOMETRY
CTM_INLINE vec3 cross(vec3 a, vec3 b) { return a.yzx * b.zxy - a.zxy * b.yzx; }

/* Bits of integers, which R700 has and R5xx has not. */
CTM_INLINE uint rotate_left(uint x, uint count) { return __builtin_rotateleft32(x, count); }
CTM_INLINE uint rotate_right(uint x, uint count) { return __builtin_rotateright32(x, count); }
CTM_INLINE int bit_count(uint x) { return __builtin_popcount(x); }
CTM_INLINE int leading_zeros(uint x) { return __builtin_clzg(x, 32); }
CTM_INLINE int trailing_zeros(uint x) { return __builtin_ctzg(x, 32); }
CTM_INLINE uint multiply_high(uint a, uint b) { return (uint)((unsigned long long)a * b >> 32); }
CTM_INLINE int multiply_high(int a, int b) { return (int)((long long)a * b >> 32); }
