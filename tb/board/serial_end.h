// The other end of a serial line: bytes become levels, and levels bytes.
//
// PERIOD, the clock cycles of a bit, precedes this text.

#include <cstdint>
#include <deque>

namespace {

class SerialEnd {
public:
    std::deque<std::uint8_t> sent, received;

    // The level of the next cycle.
    bool send() {
        if (!out_remaining && !sent.empty()) {
            out_bits = 1u << 9 | unsigned(sent.front()) << 1;
            sent.pop_front();
            out_remaining = 10;
            out_time = PERIOD;
        }
        if (!out_remaining) return true;
        const bool level = out_bits & 1;
        if (!--out_time) {
            out_bits >>= 1;
            --out_remaining;
            out_time = PERIOD;
        }
        return level;
    }

    // The level of this cycle.
    void receive(bool level) {
        if (in_time < 0) {
            if (!level) in_time = in_bits = 0;
            return;
        }
        const unsigned position = ++in_time / PERIOD;
        if (in_time % PERIOD != PERIOD / 2) return;
        if (position == 0 && level) in_time = -1;
        if (position >= 1 && position <= 8) in_bits |= unsigned(level) << (position - 1);
        if (position == 9) {
            if (level) received.push_back(in_bits);
            in_time = -1;
        }
    }

private:
    unsigned out_bits = 1, out_remaining = 0, out_time = 0;
    int in_time = -1;
    unsigned in_bits = 0;
};

}  // namespace
