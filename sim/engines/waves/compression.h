// The functions of the libraries LZ4 and zlib that Verilator's FST writer calls: their headers are not installed
// everywhere. A greedy compressor makes blocks of LZ4. zlib's format is written without compression; the writer then
// stores the data themselves, which are shorter.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

using uLong = unsigned long;
using uLongf = unsigned long;
using Bytef = unsigned char;
enum { Z_OK = 0, Z_BUF_ERROR = -5 };

namespace compression {

constexpr int LEAST_MATCH = 4, LAST_LITERALS = 5, LAST_MATCH = 12, FARTHEST = 65535, TOKEN_MOST = 15,
              MOST_BITS = 12;  // A table of words that fits in a first-level cache.

inline std::uint32_t word(const std::uint8_t* at) {
    std::uint32_t value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

// What a length has beyond the most that its half of a token holds.
inline std::uint8_t* put_length(std::uint8_t* out, int length) {
    for (; length >= 255; length -= 255) *out++ = 255;
    *out++ = std::uint8_t(length);
    return out;
}

// Literals, and the match after them unless its length is 0.
inline std::uint8_t* put_sequence(std::uint8_t* out, const std::uint8_t* literals, int count, int offset, int length) {
    const int more = length ? length - LEAST_MATCH : 0;
    *out++ = std::uint8_t(std::min(count, TOKEN_MOST) << 4 | std::min(more, TOKEN_MOST));
    if (count >= TOKEN_MOST) out = put_length(out, count - TOKEN_MOST);
    std::copy_n(literals, count, out);
    out += count;
    if (!length) return out;
    *out++ = std::uint8_t(offset);
    *out++ = std::uint8_t(offset >> 8);
    return more >= TOKEN_MOST ? put_length(out, more - TOKEN_MOST) : out;
}

}  // namespace compression

inline int LZ4_compressBound(int size) { return size + size / 255 + 16; }

// The size of the block, 0 if `most` bytes may not be enough.
inline int LZ4_compress_default(const char* source, char* target, int size, int most) {
    using namespace compression;
    if (most < LZ4_compressBound(size)) return 0;
    const auto* in = reinterpret_cast<const std::uint8_t*>(source);
    auto* const begin = reinterpret_cast<std::uint8_t*>(target);
    auto* out = begin;
    int bits = 6;
    while (bits < MOST_BITS && 1 << bits < size) ++bits;
    // Where a word was last, by its hash, plus one.
    static thread_local std::vector<int> table;
    table.assign(std::size_t{1} << bits, 0);
    int anchor = 0;
    for (int at = 0; at < size - LAST_MATCH;) {
        int& entry = table[word(in + at) * 2654435761u >> (32 - bits)];
        const int from = entry - 1;
        entry = at + 1;
        if (from < 0 || at - from > FARTHEST || word(in + from) != word(in + at)) {
            ++at;
            continue;
        }
        int length = LEAST_MATCH;
        while (at + length < size - LAST_LITERALS && in[from + length] == in[at + length]) ++length;
        out = put_sequence(out, in + anchor, at - anchor, at - from, length);
        anchor = at += length;
    }
    out = put_sequence(out, in + anchor, size - anchor, 0, 0);
    return int(out - begin);
}

inline uLong compressBound(uLong size) { return size + 5 * (size / 65535 + 1) + 6; }

inline int compress2(Bytef* target, uLongf* target_size, const Bytef* source, uLong size, int) {
    if (*target_size < compressBound(size)) return Z_BUF_ERROR;
    Bytef* out = target;
    *out++ = 0x78, *out++ = 0x01;
    for (uLong at = 0; at == 0 || at < size;) {
        const uLong count = std::min<uLong>(size - at, 65535);
        *out++ = at + count == size;
        for (const uLong half : {count, ~count}) *out++ = Bytef(half), *out++ = Bytef(half >> 8);
        out = std::copy_n(source + at, count, out);
        at += count;
        if (!count) break;
    }
    std::uint32_t low = 1, high = 0;
    for (uLong at = 0; at < size; ++at) {
        low = (low + source[at]) % 65521;
        high = (high + low) % 65521;
    }
    for (const std::uint32_t sum : {high, low}) *out++ = Bytef(sum >> 8), *out++ = Bytef(sum);
    *target_size = uLongf(out - target);
    return Z_OK;
}
