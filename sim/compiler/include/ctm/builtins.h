/* Functions by which a kernel reads and writes. */
#pragma once

/* The element (x, y) of an input, rounded down and clamped to its edge. */
CTM_INLINE vec4 texel(int input, float x, float y) { return ctm_texel(input, x, y); }
CTM_INLINE vec4 texel(int input, vec2 position) { return ctm_texel(input, position.x, position.y); }
CTM_INLINE vec4 texel(int input, ivec2 position) { return ctm_texel(input, position.x, position.y); }

/* The same with coordinates from 0 to 1 over the whole input. */
CTM_INLINE vec4 texture(int input, float x, float y) { return ctm_texture(input, x, y); }
CTM_INLINE vec4 texture(int input, vec2 position) { return ctm_texture(input, position.x, position.y); }

/* A float constant: four floats. */
CTM_INLINE vec4 constant(int number) { return ctm_constant(number); }

/* What an output gets at the pixel when the kernel ends; the last call counts. Integers are stored as their bits. */
CTM_INLINE void output(int target, vec4 value) { ctm_output(target, value); }
CTM_INLINE void output(int target, ivec4 value) { ctm_output(target, as_float(value)); }
CTM_INLINE void output(int target, uvec4 value) { ctm_output(target, as_float(value)); }
CTM_INLINE void output(int target, vec3 value) { ctm_output(target, (vec4){value.x, value.y, value.z, 1}); }
CTM_INLINE void output(int target, vec2 value) { ctm_output(target, (vec4){value.x, value.y, 0, 1}); }
CTM_INLINE void output(int target, float value) { ctm_output(target, (vec4){value, 0, 0, 1}); }

/* Sets the value that the conditional unit tests. */
CTM_INLINE void conditional(float value) { ctm_conditional(value); }

/* Writes an element of output 0, a linear array of single floats, at once; any pixel may write any element. */
CTM_INLINE void write(int index, float value) { ctm_write(index, value); }
CTM_INLINE void write(int index, int value) { ctm_write(index, as_float(value)); }
CTM_INLINE void write(int index, uint value) { ctm_write(index, as_float(value)); }

/* Drops the pixel: nothing that it outputs or writes from here on is kept. The kernel goes on. */
CTM_INLINE void discard(void) { ctm_discard(); }
