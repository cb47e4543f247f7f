// The memory of a core: addresses of elements, conversion of their formats, and the conditional unit.
//
// Written from the rules of docs/design/memory-controller.md and docs/arithmetic.md, independently of sim/golden.
// Buffers have their derived values. simulation.py concatenates the declarations of ports.py, with the codes of clients
// and tests, this text, streams.cc, clients.cc and loop.cc.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace {

constexpr unsigned CHANNELS = 4;
constexpr std::uint32_t POISON = 0x7FBADBAD;  // A signalling NaN: the words of a response that the core must not use.
constexpr unsigned QUAD = 4;
constexpr std::array<std::uint32_t, CHANNELS> MISSING = {0, 0, 0, 0x3F800000};

using Element = std::array<std::uint32_t, CHANNELS>;

template <typename To, typename From>
To same_bits(From value) {
    static_assert(sizeof(To) == sizeof(From));
    To result;
    std::memcpy(&result, &value, sizeof result);
    return result;
}

// A rectangle of elements; width and height are those that exist.
struct Buffer {
    std::uint32_t base, pitch, width, height, channels, channel_bytes;
    std::uint32_t is_float, is_tiled, is_2x2, tile_width_log2, tile_height_log2;

    std::uint32_t element_bytes() const { return channels * channel_bytes; }
    bool has(std::uint32_t x, std::uint32_t y) const { return x < width && y < height; }
};

struct Range {
    std::uint64_t first, end;
};

unsigned bit(std::uint32_t value, unsigned index) { return value >> index & 1; }

std::uint32_t low(std::uint32_t value, unsigned bits) { return value & ((1u << bits) - 1); }

// Byte address of an element, modulo 4 GiB. Tables 1 and 2 of the manual, p. 6.
std::uint32_t address_of(const Buffer& buffer, std::uint32_t x, std::uint32_t y) {
    const std::uint32_t size = buffer.element_bytes();
    if (!buffer.is_tiled) return buffer.base + y * (buffer.pitch * size & ~31u) + x * size;
    const unsigned w = buffer.tile_width_log2, h = buffer.tile_height_log2;
    const std::uint32_t tile = (y >> h) * (buffer.pitch >> w) + (x >> w);
    const std::uint32_t inside = (low(y, h - 3) << (w - 3) | low(x, w - 3)) * size
        | bit(x, w - 3) << 5 | bit(y, h - 3) << 6
        | (bit(x, w - 2) ^ bit(y, h - 1)) << 7 | (bit(y, h - 2) ^ bit(x, w - 1)) << 8
        | (bit(x, w - 1) ^ bit(y, h)) << 9 | (bit(y, h - 1) ^ bit(x, w)) << 10;
    return buffer.base + (tile << 11) + inside;
}

// What a channel of an integer format holds for a float32: clamped, NaN being 0, rounded to nearest even.
std::uint32_t normalised(std::uint32_t word, unsigned bytes) {
    const double largest = bytes == 1 ? 255 : 65535;
    const float value = same_bits<float>(word);
    if (!(value > 0)) return 0;
    return value >= 1 ? std::uint32_t(largest) : std::uint32_t(std::nearbyint(double(value) * largest));
}

// A float32 to compare: denormals are zeros.
float comparable(std::uint32_t word) { return same_bits<float>(word & 0x7F800000 ? word : word & 0x80000000); }

template <typename Number>
bool holds(std::uint32_t test, Number value, Number stored) {
    switch (test) {
        case ConditionalTest::LESS: return value < stored;
        case ConditionalTest::LESS_EQUAL: return value <= stored;
        case ConditionalTest::EQUAL: return value == stored;
        case ConditionalTest::GREATER_EQUAL: return value >= stored;
        case ConditionalTest::GREATER: return value > stored;
        case ConditionalTest::NOT_EQUAL: return value != stored;
        default: return test == ConditionalTest::ALWAYS;
    }
}

// What the commands have set, as Python gives it; every member is a multiple of 8 bytes.
struct MemorySetup {
    const std::uint8_t* start;  // Memory as it was when the program started.
    std::uint8_t* current;
    const Range* error;
    std::uint64_t error_count;
    std::array<Buffer, 16> inputs;
    std::array<Buffer, 4> outputs;
    std::array<Buffer, 2> conditional;  // The second only fills.
    std::uint64_t output_mask, test, writes_conditional;
};

class MemoryModel {
public:
    bool has_lost = false;
    std::uint32_t lost_client = 0, lost_address = 0;  // Of the first access whose data was dropped.

    explicit MemoryModel(const MemorySetup& setup) : setup(setup) {}

    const Buffer& input(unsigned index) const { return setup.inputs[index]; }

    // Fetches an element; whether it has an error, with which the element is not set.
    bool fetch(unsigned index, bool is_uncached, std::uint32_t x, std::uint32_t y, Element& element) const {
        const Buffer& buffer = setup.inputs[index];
        const std::uint8_t* memory = is_uncached ? setup.current : setup.start;
        element = {};
        if (buffer.width == 0) return false;
        if (!buffer.is_2x2) return read(buffer, memory, address_of(buffer, x, y), element);
        const std::uint32_t right = std::min(x + 1, buffer.width - 1), up = std::min(y + 1, buffer.height - 1);
        const std::array<std::uint32_t, CHANNELS> addresses = {
            address_of(buffer, right, y), address_of(buffer, x, up), address_of(buffer, right, up),
            address_of(buffer, x, y)};
        bool is_error = false;
        for (unsigned channel = 0; channel < CHANNELS; ++channel) {
            Element neighbour;
            is_error |= read(buffer, memory, addresses[channel], neighbour);
            element[channel] = neighbour[0];
        }
        return is_error;
    }

    // Stores the channels in `mask` that the format and the output mask have; what lies outside is dropped.
    void store(unsigned output, std::uint32_t x, std::uint32_t y, const Element& element, unsigned mask) {
        const Buffer& buffer = setup.outputs[output];
        mask &= unsigned(setup.output_mask) & ((1u << buffer.channels) - 1);
        if (!mask || !buffer.has(x, y)) return;
        const std::uint32_t address = address_of(buffer, x, y);
        if (lose(BusClient::OUTPUT, address, buffer.element_bytes())) return;
        for (unsigned channel = 0; channel < buffer.channels; ++channel) {
            if (mask >> channel & 1) write(buffer, address + channel * buffer.channel_bytes, element[channel]);
        }
    }

    // Makes the conditional test of one pair, and stores its value where it passes.
    bool test(std::uint32_t x, std::uint32_t y, std::uint32_t value) {
        const Buffer& buffer = setup.conditional[0];
        const std::uint32_t test = std::uint32_t(setup.test);
        const bool compares = test != ConditionalTest::NEVER && test != ConditionalTest::ALWAYS;
        const bool writes = setup.writes_conditional && test != ConditionalTest::NEVER;
        if (!compares && !writes) return test == ConditionalTest::ALWAYS;
        if (!buffer.has(x, y)) return false;
        const std::uint32_t address = address_of(buffer, x, y);
        if (lose(BusClient::CONDITIONAL_OUTPUT, address, buffer.element_bytes())) return false;
        std::uint32_t stored = 0;
        std::memcpy(&stored, setup.current + address, buffer.channel_bytes);
        const bool passed = buffer.is_float ? holds(test, comparable(value), comparable(stored))
                                            : holds(test, normalised(value, buffer.channel_bytes), stored);
        if (passed && writes) write(buffer, address, value);
        return passed;
    }

private:
    const MemorySetup& setup;

    bool is_error(std::uint32_t address, std::uint32_t size) const {
        return std::any_of(setup.error, setup.error + setup.error_count, [=](const Range& range) {
            return address < range.end && std::uint64_t(address) + size > range.first;
        });
    }

    bool lose(std::uint32_t client, std::uint32_t address, std::uint32_t size) {
        if (!is_error(address, size)) return false;
        if (!has_lost) lost_client = client, lost_address = address;
        has_lost = true;
        return true;
    }

    bool read(const Buffer& buffer, const std::uint8_t* memory, std::uint32_t address, Element& element) const {
        if (is_error(address, buffer.element_bytes())) return true;
        element = MISSING;
        for (unsigned channel = 0; channel < buffer.channels; ++channel) {
            std::uint32_t raw = 0;
            std::memcpy(&raw, memory + address + channel * buffer.channel_bytes, buffer.channel_bytes);
            const float largest = buffer.channel_bytes == 1 ? 255.0f : 65535.0f;
            element[channel] = buffer.is_float ? raw : same_bits<std::uint32_t>(float(raw) / largest);
        }
        return false;
    }

    void write(const Buffer& buffer, std::uint32_t address, std::uint32_t word) {
        const std::uint32_t raw = buffer.is_float ? word : normalised(word, buffer.channel_bytes);
        std::memcpy(setup.current + address, &raw, buffer.channel_bytes);
    }
};

}  // namespace

// For tests of this model alone: `count` accesses in order, with arrays [count] or [count][4]; results are bytes.
#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED void memory_fetch(const MemorySetup* setup, unsigned input, unsigned is_uncached, std::size_t count,
                           const std::uint32_t* x, const std::uint32_t* y, Element* elements, std::uint8_t* failed) {
    MemoryModel memory(*setup);
    for (std::size_t k = 0; k < count; ++k) failed[k] = memory.fetch(input, is_uncached, x[k], y[k], elements[k]);
}

EXPORTED void memory_store(const MemorySetup* setup, unsigned output, std::size_t count, const std::uint32_t* x,
                           const std::uint32_t* y, const Element* elements, const std::uint8_t* masks) {
    MemoryModel memory(*setup);
    for (std::size_t k = 0; k < count; ++k) memory.store(output, x[k], y[k], elements[k], masks[k]);
}

EXPORTED void memory_test(const MemorySetup* setup, std::size_t count, const std::uint32_t* x, const std::uint32_t* y,
                          const std::uint32_t* values, std::uint8_t* passed) {
    MemoryModel memory(*setup);
    for (std::size_t k = 0; k < count; ++k) passed[k] = memory.test(x[k], y[k], values[k]);
}
