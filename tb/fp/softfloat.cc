// Berkeley SoftFloat's fused multiply-add on arrays, with the machine's rules for denormals and NaNs.
// The symbols are those of the Python package's own library.
#include <dlfcn.h>

#include <cstdint>

namespace {

constexpr uint32_t SIGN = 0x80000000, INFINITE = 0x7F800000, NOT_A_NUMBER = 0x7FFFFFFF;
constexpr uint8_t UNDERFLOW_FLAG = 2, NEAR_EVEN = 0, TINY_AFTER_ROUNDING = 1;

uint32_t flush(uint32_t word) { return word & INFINITE ? word : word & SIGN; }

}  // namespace

extern "C" int multiply_add(const char *library, uint64_t count, const uint32_t *a, const uint32_t *b,
                            const uint32_t *c, uint32_t *result) {
    void *softfloat = dlopen(library, RTLD_NOW);
    if (!softfloat) return 1;
    auto fused = reinterpret_cast<uint32_t (*)(uint32_t, uint32_t, uint32_t)>(dlsym(softfloat, "f32_mulAdd"));
    auto flags = static_cast<uint8_t *>(dlsym(softfloat, "softfloat_exceptionFlags"));
    auto rounding = static_cast<uint8_t *>(dlsym(softfloat, "softfloat_roundingMode"));
    auto tininess = static_cast<uint8_t *>(dlsym(softfloat, "softfloat_detectTininess"));
    if (!fused || !flags || !rounding || !tininess) return 2;
    *rounding = NEAR_EVEN;
    *tininess = TINY_AFTER_ROUNDING;
    for (uint64_t index = 0; index < count; ++index) {
        *flags = 0;
        uint32_t word = fused(flush(a[index]), flush(b[index]), flush(c[index]));
        // Tiny after rounding is a zero, even where IEEE's coarser grid rounds it up to 2^-126.
        if ((word & ~SIGN) > INFINITE) word = NOT_A_NUMBER;
        else if (*flags & UNDERFLOW_FLAG) word &= SIGN;
        else word = flush(word);
        result[index] = word;
    }
    return 0;
}
