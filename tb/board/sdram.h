// A synchronous DRAM of 4 banks, 8192 rows and 512 columns of 16 bits, seen at its pins. It reports the first rule that
// is broken. Its times are the longest ones in the data sheets of the chips that are on boards.

#include <algorithm>
#include <string>
#include <vector>

namespace {

using Nanoseconds = std::uint64_t;

struct SdramPins {
    bool cke, cs_n, ras_n, cas_n, we_n;
    unsigned bank, address, mask;
    std::uint16_t data;
    bool is_driven;  // From outside.
};

class Sdram {
public:
    explicit Sdram(std::uint64_t seed) : memory(BANKS * ROWS * COLUMNS), random(seed) {
        for (auto& word : memory) word = random.next();
    }

    // The first rule that was broken.
    std::string violation;
    std::uint64_t reads = 0, writes = 0, refreshes = 0;

    // A rising edge of its clock, with the levels of its pins before the edge.
    void clock(const SdramPins& pins, Nanoseconds time) {
        now = time;
        ++edge;
        for (unsigned index = 0; index < DEPTH - 1; ++index) outputs[index] = outputs[index + 1];
        outputs[DEPTH - 1] = {};
        masks[1] = masks[0];
        masks[0] = pins.mask;
        if (!pins.cke) {
            if (stage != Stage::POWER_UP) reject("CKE low after the start");
            started_at = now;
            return;
        }
        if (started_at == UNKNOWN) started_at = now;
        if (stage == Stage::READY) check_refreshes();
        if (!pins.cs_n) command(pins);
        // A mask takes effect two cycles later.
        const bool is_driving = outputs[0].is_valid && (masks[1] & 3) != 3;
        if (is_driving && pins.is_driven) reject("data driven from both ends");
        if (is_driving) level = outputs[0].word;
        else if (was_driving) level = random.next();
        was_driving = is_driving;
    }

    // The levels of its data pins until the next edge; random ones if no end drives them.
    std::uint16_t bus() const { return level; }

private:
    static constexpr unsigned BANKS = 4, ROWS = 8192, COLUMNS = 512, DEPTH = 4;
    static constexpr Nanoseconds UNKNOWN = ~Nanoseconds(0);
    static constexpr Nanoseconds POWER_UP = 200'000, PRECHARGE = 21, ACTIVE_TO_COLUMN = 21, ACTIVE = 45, ROW_CYCLE = 68,
                                 ACTIVE_TO_ACTIVE = 15, REFRESH = 70, RECOVERY = 15, RETENTION = 64'000'000;
    static constexpr unsigned MODE_EDGES = 2, FIRST_REFRESHES = 2, HELD_BACK = 9;

    enum class Stage { POWER_UP, PRECHARGED, READY };
    struct Bank {
        bool is_active = false;
        unsigned row = 0;
        Nanoseconds activated = 0, precharged = 0, written = 0;
    };
    struct Output {
        bool is_valid = false;
        std::uint16_t word = 0;
    };

    std::vector<std::uint16_t> memory;
    Random random;
    Stage stage = Stage::POWER_UP;
    Nanoseconds now = 0, started_at = UNKNOWN, ready_at = 0, last_refresh = 0, last_active = 0;
    std::uint64_t edge = 0, mode_edge = 0;
    bool has_mode = false;
    unsigned mode = 0;
    Bank banks[BANKS];
    Output outputs[DEPTH];
    unsigned masks[2] = {3, 3};
    bool was_driving = true;
    std::uint16_t level = 0;

    void reject(const std::string& rule) {
        if (violation.empty()) violation = rule + " at " + std::to_string(now) + " ns";
    }
    void need(bool holds, const char* rule) {
        if (!holds) reject(rule);
    }
    void need_time(Nanoseconds since, Nanoseconds least, const char* rule) { need(now >= since + least, rule); }
    bool all_idle() const {
        return std::none_of(banks, banks + BANKS, [](const Bank& bank) { return bank.is_active; });
    }

    void command(const SdramPins& pins) {
        const unsigned code = pins.ras_n << 2 | pins.cas_n << 1 | pins.we_n;
        if (code == 7) return;
        need(!has_mode || edge >= mode_edge + MODE_EDGES, "a command too soon after a mode");
        if (refreshes) need_time(last_refresh, REFRESH, "a command too soon after a refresh");
        switch (code) {
            case 0: return set_mode(pins);
            case 1: return refresh();
            case 2: return precharge(pins);
            case 3: return activate(pins);
            case 4: return column(pins, true);
            case 5: return column(pins, false);
            default: reject("a burst that is ended, where bursts have one word");
        }
    }

    void set_mode(const SdramPins& pins) {
        need(stage != Stage::POWER_UP, "a mode before banks are precharged");
        need(all_idle(), "a mode while a bank is active");
        for (const Bank& bank : banks) need_time(bank.precharged, PRECHARGE, "a mode too soon after a precharge");
        mode = pins.address;
        mode_edge = edge;
        has_mode = true;
    }

    void refresh() {
        need(stage != Stage::POWER_UP, "a refresh before banks are precharged");
        need(all_idle(), "a refresh while a bank is active");
        for (const Bank& bank : banks) need_time(bank.precharged, PRECHARGE, "a refresh too soon after a precharge");
        last_refresh = now;
        ++refreshes;
    }

    // Each row is refreshed in 64 ms, and each refresh is that of the next row. At most HELD_BACK refreshes may be held
    // back. More are an error long before a row has lost its data.
    void check_refreshes() {
        const Nanoseconds latest = ready_at + (refreshes - FIRST_REFRESHES + HELD_BACK) * (RETENTION / ROWS);
        need(now <= latest, "too few refreshes");
    }

    void precharge(const SdramPins& pins) {
        if (stage == Stage::POWER_UP) {
            need(pins.address >> 10 & 1, "a precharge of one bank at the start");
            need_time(started_at, POWER_UP, "a precharge too soon after power-up");
            stage = Stage::PRECHARGED;
        }
        for (unsigned number = 0; number < BANKS; ++number)
            if ((pins.address >> 10 & 1) || number == pins.bank) close(banks[number], now);
    }

    void close(Bank& bank, Nanoseconds time) {
        if (!bank.is_active) return;
        if (time < bank.activated + ACTIVE) reject("a precharge too soon after an activate");
        if (bank.written && time < bank.written + RECOVERY) reject("a precharge too soon after a write");
        bank.is_active = false;
        bank.precharged = time;
    }

    void activate(const SdramPins& pins) {
        if (stage == Stage::PRECHARGED) {
            need(has_mode, "an activate without a mode");
            need(refreshes >= FIRST_REFRESHES, "an activate without the first refreshes");
            stage = Stage::READY;
            ready_at = now;
        }
        need(stage == Stage::READY, "an activate before the start");
        need((mode & 0x1F8F) == 0, "an activate in a mode with bursts, or that is reserved");
        need(latency() == 2 || latency() == 3, "an activate in a mode without CAS latency");
        Bank& bank = banks[pins.bank];
        need(!bank.is_active, "an activate of a bank that is active");
        need_time(bank.precharged, PRECHARGE, "an activate too soon after a precharge");
        if (bank.activated) need_time(bank.activated, ROW_CYCLE, "an activate too soon after that of the same bank");
        if (last_active) need_time(last_active, ACTIVE_TO_ACTIVE, "an activate too soon after another one");
        bank = {true, pins.address, now, bank.precharged, 0};
        last_active = now;
    }

    unsigned latency() const { return mode >> 4 & 7; }

    void column(const SdramPins& pins, bool is_write) {
        Bank& bank = banks[pins.bank];
        need(bank.is_active, "a read or write of a bank that is not active");
        need_time(bank.activated, ACTIVE_TO_COLUMN, "a read or write too soon after an activate");
        std::uint16_t& word = memory[(pins.bank * ROWS + bank.row % ROWS) * COLUMNS + pins.address % COLUMNS];
        if (is_write) {
            need(pins.is_driven, "a write without data");
            for (unsigned byte = 0; byte < 2; ++byte)
                if (!(pins.mask >> byte & 1)) {
                    const std::uint16_t lane = 0xFF << 8 * byte;
                    word = (word & ~lane) | (pins.data & lane);
                }
            bank.written = now;
            ++writes;
        } else {
            outputs[(latency() - 1) % DEPTH] = {true, word};
            ++reads;
        }
        // It precharges itself as soon as it may.
        if (pins.address >> 10 & 1) {
            const Nanoseconds earliest = std::max(bank.activated + ACTIVE, is_write ? now + RECOVERY : now);
            bank.is_active = false;
            bank.precharged = earliest;
        }
    }
};

}  // namespace
