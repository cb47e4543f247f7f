/* The functions of core.h on the host, and a loop over the pixels of a domain. Operations are rounded one by one, as on
 * R700 cores. With CTM_FUSED (and -ffp-contract=on) a product and its sum are rounded once, as on R5xx cores. Denormals
 * are zero.
 *
 *     static const struct ctm_launch launch = {.width = 64, .height = 64, ...};
 *     ctm_run(scale, &launch);
 *
 * and ctm_run_integers for a kernel of (ivec2).
 */
#pragma once

#if !defined(CTM_FUSED)
#pragma STDC FP_CONTRACT OFF
#endif

#define kernel
int abs(int x);
#define CTM_TARGETS 4

/* Rows of four floats, row 0 first. */
struct ctm_image {
    const float *data;
    int width, height;
};

/* A domain from (0, 0) on, and what the kernel reads and writes. Outputs have four floats for each pixel; those of pixels
 * that are discarded, or that the kernel does not write, do not change. */
struct ctm_launch {
    int width, height;
    const struct ctm_image *inputs;
    const float *constants;
    int constant_count;
    float *outputs[CTM_TARGETS];
    float *conditional;
    float *memory;
    int memory_count;
};

/* The pixel that is computed; one for all files of a program. */
struct ctm_state {
    const struct ctm_launch *launch;
    int is_discarded, is_conditional;
    vec4 outputs[CTM_TARGETS];
    int is_written[CTM_TARGETS];
    float conditional;
};
__attribute__((weak)) struct ctm_state ctm_now;

CTM_INLINE int ctm_clamped(float x, int size) {
    float whole = __builtin_elementwise_floor(x);
    return !(whole >= 0) ? 0 : whole > size - 1 ? size - 1 : (int)whole;
}

CTM_INLINE vec4 ctm_texel(int input, float x, float y) {
    const struct ctm_image *image = &ctm_now.launch->inputs[input];
    vec4 found;
    int index = ctm_clamped(y, image->height) * image->width + ctm_clamped(x, image->width);
    __builtin_memcpy(&found, image->data + 4 * index, sizeof found);
    return found;
}

CTM_INLINE vec4 ctm_texture(int input, float x, float y) {
    const struct ctm_image *image = &ctm_now.launch->inputs[input];
    return ctm_texel(input, x * image->width, y * image->height);
}

CTM_INLINE vec4 ctm_constant(int number) {
    vec4 found = 0;
    if (number >= 0 && number < ctm_now.launch->constant_count)
        __builtin_memcpy(&found, ctm_now.launch->constants + 4 * number, sizeof found);
    return found;
}

CTM_INLINE float ctm_dot(vec4 a, vec4 b) {
    return (float)((double)a.x * b.x + (double)a.y * b.y + (double)a.z * b.z + (double)a.w * b.w);
}

CTM_INLINE float ctm_inversesqrt(float x) { return (float)(1.0 / __builtin_sqrt((double)x)); }

CTM_INLINE void ctm_output(int target, vec4 value) {
    ctm_now.outputs[target] = value;
    ctm_now.is_written[target] = 1;
}

CTM_INLINE void ctm_conditional(float value) {
    ctm_now.conditional = value;
    ctm_now.is_conditional = 1;
}

CTM_INLINE void ctm_write(int index, float value) {
    if (!ctm_now.is_discarded && index >= 0 && index < ctm_now.launch->memory_count)
        ctm_now.launch->memory[index] = value;
}

CTM_INLINE void ctm_discard(void) { ctm_now.is_discarded = 1; }

CTM_INLINE void ctm_store(const struct ctm_launch *launch, int index) {
    for (int target = 0; target < CTM_TARGETS; target++)
        if (ctm_now.is_written[target])
            __builtin_memcpy(launch->outputs[target] + 4 * index, &ctm_now.outputs[target], sizeof(vec4));
    if (ctm_now.is_conditional)
        launch->conditional[index] = ctm_now.conditional;
}

/* Runs a kernel. The results are those of the machine, except for divisions and functions that are not exact. */
#define CTM_RUN(name, coordinates) \
    __attribute__((weak)) void name(void (*function)(coordinates), const struct ctm_launch *launch) { \
        unsigned mode = ctm_flush_denormals(); \
        ctm_now.launch = launch; \
        for (int j = 0; j < launch->height; j++) \
            for (int i = 0; i < launch->width; i++) { \
                ctm_begin(); \
                function((coordinates){i, j}); \
                if (!ctm_now.is_discarded) \
                    ctm_store(launch, j * launch->width + i); \
            } \
        ctm_restore(mode); \
    }

CTM_INLINE void ctm_begin(void) {
    ctm_now.is_discarded = ctm_now.is_conditional = 0;
    for (int target = 0; target < CTM_TARGETS; target++)
        ctm_now.is_written[target] = 0;
}

#if defined(__SSE__)
CTM_INLINE unsigned ctm_flush_denormals(void) {
    unsigned mode = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(mode | 0x8040);
    return mode;
}
CTM_INLINE void ctm_restore(unsigned mode) { __builtin_ia32_ldmxcsr(mode); }
#else
CTM_INLINE unsigned ctm_flush_denormals(void) { return 0; }
CTM_INLINE void ctm_restore(unsigned mode) { (void)mode; }
#endif

CTM_RUN(ctm_run, vec2)
CTM_RUN(ctm_run_integers, ivec2)
#undef CTM_RUN
