/* Kernels in C, for the cores of the machine and for the computer at hand.
 *
 * A kernel is a function of the pixel that it computes:
 *
 *     #include <ctm/kernel.h>
 *
 *     kernel void scale(vec2 pixel) {
 *         output(0, 2.0f * texel(0, pixel));
 *     }
 *
 * It is called once for each pixel of the domain, with (i, j) as floats (vec2) or integers (ivec2). Numbers of inputs and
 * outputs are literals. There is no memory but arrays of the kernel's own; functions are inlined. The language is C; the
 * names are those of shading languages. docs/kernels.md has all of it.
 */
#pragma once

#if !defined(__clang__)
#error "ctm/kernel.h needs Clang, also for kernels on the host (python -m ziglang cc): GCC has no vectors of this kind"
#endif

#include <ctm/vectors.h>

#if defined(CTM_CORE)
#include <ctm/core.h>
#else
#include <ctm/host.h>
#endif

#include <ctm/builtins.h>
#include <ctm/functions.h>
