/* Vectors: vec2 to vec4 of floats, ivec2 to ivec4 of int, uvec2 to uvec4 of unsigned int.
 *
 * Components are .x .y .z .w or .r .g .b .a, several at once in any order (v.zyx). Operators work on each component;
 * comparisons give 0 or -1 in each. vec4(...) and its like make one of scalars and shorter vectors.
 */
#pragma once

typedef unsigned int uint;

#define CTM_VECTORS(scalar, prefix) \
    typedef scalar prefix##2 __attribute__((ext_vector_type(2))); \
    typedef scalar prefix##3 __attribute__((ext_vector_type(3))); \
    typedef scalar prefix##4 __attribute__((ext_vector_type(4)));
CTM_VECTORS(float, vec)
CTM_VECTORS(int, ivec)
CTM_VECTORS(unsigned int, uvec)
#undef CTM_VECTORS

/* For a debugger, the code of these functions belongs to the kernel's line that calls them. */
#define CTM_INLINE static inline __attribute__((always_inline, nodebug, overloadable, unused))

#define CTM_MAKE(scalar, prefix) \
    CTM_INLINE prefix##2 ctm_##prefix##2(scalar x, scalar y) { return (prefix##2){x, y}; } \
    CTM_INLINE prefix##2 ctm_##prefix##2(scalar x) { return (prefix##2){x, x}; } \
    CTM_INLINE prefix##3 ctm_##prefix##3(scalar x, scalar y, scalar z) { return (prefix##3){x, y, z}; } \
    CTM_INLINE prefix##3 ctm_##prefix##3(prefix##2 v, scalar z) { return (prefix##3){v.x, v.y, z}; } \
    CTM_INLINE prefix##3 ctm_##prefix##3(scalar x, prefix##2 v) { return (prefix##3){x, v.x, v.y}; } \
    CTM_INLINE prefix##3 ctm_##prefix##3(scalar x) { return (prefix##3){x, x, x}; } \
    CTM_INLINE prefix##4 ctm_##prefix##4(scalar x, scalar y, scalar z, scalar w) { return (prefix##4){x, y, z, w}; } \
    CTM_INLINE prefix##4 ctm_##prefix##4(prefix##2 v, scalar z, scalar w) { return (prefix##4){v.x, v.y, z, w}; } \
    CTM_INLINE prefix##4 ctm_##prefix##4(scalar x, prefix##2 v, scalar w) { return (prefix##4){x, v.x, v.y, w}; } \
    CTM_INLINE prefix##4 ctm_##prefix##4(scalar x, scalar y, prefix##2 v) { return (prefix##4){x, y, v.x, v.y}; } \
    CTM_INLINE prefix##4 ctm_##prefix##4(prefix##2 v, prefix##2 u) { return (prefix##4){v.x, v.y, u.x, u.y}; } \
    CTM_INLINE prefix##4 ctm_##prefix##4(prefix##3 v, scalar w) { return (prefix##4){v.x, v.y, v.z, w}; } \
    CTM_INLINE prefix##4 ctm_##prefix##4(scalar x, prefix##3 v) { return (prefix##4){x, v.x, v.y, v.z}; } \
    CTM_INLINE prefix##4 ctm_##prefix##4(scalar x) { return (prefix##4){x, x, x, x}; }
CTM_MAKE(float, vec)
CTM_MAKE(int, ivec)
CTM_MAKE(unsigned int, uvec)
#undef CTM_MAKE

/* Only where a parenthesis follows: elsewhere these are the types. */
#define vec2(...) ctm_vec2(__VA_ARGS__)
#define vec3(...) ctm_vec3(__VA_ARGS__)
#define vec4(...) ctm_vec4(__VA_ARGS__)
#define ivec2(...) ctm_ivec2(__VA_ARGS__)
#define ivec3(...) ctm_ivec3(__VA_ARGS__)
#define ivec4(...) ctm_ivec4(__VA_ARGS__)
#define uvec2(...) ctm_uvec2(__VA_ARGS__)
#define uvec3(...) ctm_uvec3(__VA_ARGS__)
#define uvec4(...) ctm_uvec4(__VA_ARGS__)

/* The same bits as another type. */
#define CTM_AS(floats, ints, uints) \
    CTM_INLINE floats as_float(ints v) { return __builtin_bit_cast(floats, v); } \
    CTM_INLINE floats as_float(uints v) { return __builtin_bit_cast(floats, v); } \
    CTM_INLINE ints as_int(floats v) { return __builtin_bit_cast(ints, v); } \
    CTM_INLINE uints as_uint(floats v) { return __builtin_bit_cast(uints, v); }
CTM_AS(float, int, uint)
CTM_AS(vec2, ivec2, uvec2)
CTM_AS(vec3, ivec3, uvec3)
CTM_AS(vec4, ivec4, uvec4)
#undef CTM_AS
