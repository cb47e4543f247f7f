/* What a core does for a kernel; the compiler knows these names. */
#pragma once

#define kernel __attribute__((section("ctm.kernel")))

/* Clang may merge calls of two branches into one, whose number is then not a literal. */
#ifdef CTM_NO_MERGE
#define CTM_NUMBERED __attribute__((nomerge))
#else
#define CTM_NUMBERED
#endif

#define CTM_CONST __attribute__((const, nothrow))
CTM_CONST CTM_NUMBERED vec4 ctm_texel(int input, float x, float y) __asm("ctm.texel");
CTM_CONST CTM_NUMBERED vec4 ctm_texture(int input, float x, float y) __asm("ctm.texture");
CTM_CONST vec4 ctm_constant(int number) __asm("ctm.constant");
CTM_CONST float ctm_dot(vec4 a, vec4 b) __asm("ctm.dot");
CTM_CONST float ctm_inversesqrt(float x) __asm("ctm.inversesqrt");
#undef CTM_CONST
CTM_NUMBERED void ctm_output(int target, vec4 value) __asm("ctm.output");
#undef CTM_NUMBERED
void ctm_conditional(float value) __asm("ctm.conditional");
void ctm_write(int index, float value) __asm("ctm.write");
void ctm_discard(void) __asm("ctm.discard");

CTM_INLINE int abs(int x) { return x < 0 ? -x : x; }
