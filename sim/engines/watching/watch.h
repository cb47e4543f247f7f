// The observer of a core whose model has the outputs of rtl/dpp/watch.py. It counts the issues of each instruction, and
// by cause the cycles that wavefronts waited before it. On request it keeps events with their cycles.
//
// engine.py concatenates the models, the lists WATCH_PORTS and WATCH_SLOTS of a core's issue ports and wave slots, the
// numbers WATCHED_SLOTS and so on, axi_memory.h, and this text.

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

namespace watch {

constexpr unsigned WAITS = 10;
enum Wait : std::uint8_t { FREE, START, ISSUE, RESULT, CODE, CONSTANT, FETCH };
enum Kind : std::uint8_t { TAKEN, ISSUED, WAITS_FOR, MISSED };

using Waited = std::array<std::uint64_t, WAITS>;

// As Python reads them; every member has 8 bytes.
struct Row {
    std::uint64_t executable, pc, port, issues, active, working, present;
    std::uint64_t hits, misses;  // Of its accesses to the first level of the input cache.
    std::uint64_t shared_hits, shared_misses;  // Of these misses in the second level.
    Waited waited;  // Cycles, by cause, that wavefronts waited before it; after it, too, if it was their last.
};

// As Python reads them. TAKEN: `pc` and `second` are i and j, `lanes` is how many are covered. ISSUED: `what` is the
// port, `lanes` how many of the `second` lanes that are covered and valid are active. WAITS_FOR: `what` is the cause.
// MISSED: a fetch of the instruction missed a line.
struct Event {
    std::uint64_t cycle;
    std::uint32_t executable, pc, second;
    std::uint16_t core, slot, lanes;
    std::uint8_t kind, what;
    std::uint32_t reserved;
};
static_assert(sizeof(Event) == 32);

// As Python reads them: cycles of a core with wavefronts of an executable, its wave slots that had one, summed up, and
// cycles in which all of these waited for results or fetches while the core had nothing to do.
struct Residency {
    std::uint64_t executable, cycles, occupied, exposed;
};

struct WaveSlot {
    Row* last = nullptr;  // Of the instruction that it issued last; null before the first one.
    Waited pending{}, staged{};  // Since its last issue; before an issue that is not yet confirmed.
    std::uint8_t wait = FREE;
    bool is_staged = false;
};

class CoreObserver {
public:
    std::uint64_t most_events = 0, lost = 0;
    std::uint16_t core = 0;
    std::vector<Event> events;
    std::map<std::uint32_t, std::vector<Row>> programs;  // By executable; rows by PC.
    std::map<std::uint32_t, Residency> residencies;  // By executable.

    // The end of a cycle.
    template <typename Model>
    void see(const Model& model) {
        const std::uint64_t cycle = cycles_++;
        std::uint32_t causes = 0;
        unsigned occupied = 0;
#define SEE(number) \
    causes |= 1u << model.watch_wave_slot_##number; \
    occupied += model.watch_wave_slot_##number != FREE; \
    wait(cycle, number, model.watch_wave_slot_##number);
        WATCH_SLOTS(SEE)
#undef SEE
        if (occupied) reside(cycle, occupied, causes, model.watch_fetches);
#define SEE(number) \
    if (model.watch_issue_##number##_valid) \
        issue(cycle, number, model.watch_issue_##number##_wave, model.watch_issue_##number##_pc, \
              model.watch_issue_##number##_active, model.watch_issue_##number##_present);
        WATCH_PORTS(SEE)
#undef SEE
        if (model.watch_fetch_valid) {
            fetches_[model.watch_fetch_wave][model.watch_fetch_entry] = &row_of(model.watch_fetch_pc);
        }
        // The wavefront has its wave slot from the next cycle on.
        if (model.watch_take_valid) {
            leave(slots_[model.watch_take_wave]);
            tell({cycle, executable_, model.watch_take_i, model.watch_take_j, core, std::uint16_t(model.watch_take_wave),
                  ones(model.watch_take_covered), TAKEN, 0, 0});
        }
    }

    // An access to the input cache in the cycle that is seen next, and the number of its fetch.
    void accesses(bool hit, bool miss, unsigned wave, unsigned entry) {
        if (!hit && !miss) return;
        Row& row = *fetches_[wave][entry];
        row.hits += hit;
        row.misses += miss;
        if (miss) {
            missed_.push_back(&row);
            tell({cycles_, std::uint32_t(row.executable), std::uint32_t(row.pc), 0, core, std::uint16_t(wave), 0, MISSED,
                  0, 0});
        }
    }

    // The second level takes a request with this tag for the next line that was missed.
    void requests(bool requested, unsigned tag) {
        if (!requested) return;
        refills_[tag] = missed_.front();
        missed_.pop_front();
    }

    // A request with this tag is looked up in the second level.
    void shared(bool hit, bool miss, unsigned tag) {
        if (!hit && !miss) return;
        refills_[tag]->shared_hits += hit;
        refills_[tag]->shared_misses += miss;
    }

    // Instructions from now on are those of the executable at this address.
    void runs(std::uint32_t executable) { executable_ = executable; }

    // Counts the waits of wavefronts that have not ended.
    void finish() {
        for (WaveSlot& slot : slots_) leave(slot);
    }

private:
    static constexpr std::size_t UNITS = 1 << 16;  // As many as any program has.

    std::uint32_t executable_ = 0;
    std::uint64_t cycles_ = 0;
    std::array<WaveSlot, WATCHED_SLOTS> slots_;
    std::array<std::array<Row*, WATCHED_FETCHES>, WATCHED_SLOTS> fetches_{};  // Each fetch's instruction, by number.
    std::deque<Row*> missed_;  // Of lines that are not yet requested from the second level.
    std::array<Row*, WATCHED_REFILLS> refills_{};  // Each refill's instruction, by tag.
    std::uint64_t busy_up_to_ = 0;  // The cycle in which the unit that took an instruction last may take the next one.
    std::uint32_t current_executable_ = 0, resident_executable_ = 0;  // Of `current_` and `residency_`.
    std::vector<Row>* current_ = nullptr;
    Residency* residency_ = nullptr;

    Row& row_of(std::uint32_t pc) {
        if (!current_ || current_executable_ != executable_) {
            current_executable_ = executable_;
            current_ = &programs[current_executable_];
            // Rows are not moved, because wave slots point to them.
            current_->reserve(UNITS);
        }
        if (pc >= current_->size()) current_->resize(pc + 1);
        return (*current_)[pc];
    }

    void reside(std::uint64_t cycle, unsigned occupied, std::uint32_t causes, bool fetches) {
        if (!residency_ || resident_executable_ != executable_) {
            resident_executable_ = executable_;
            residency_ = &residencies[resident_executable_];
            residency_->executable = executable_;
        }
        ++residency_->cycles;
        residency_->occupied += occupied;
        if (causes & 1u << ISSUE) busy_up_to_ = cycle + WATCHED_BEATS;
        residency_->exposed += cycle >= busy_up_to_ && !fetches && !(causes & ~(1u << FREE | 1u << RESULT | 1u << FETCH));
    }

    static std::uint16_t ones(std::uint64_t mask) { return __builtin_popcountll(mask); }

    void tell(const Event& event) {
        if (events.size() < most_events) {
            events.push_back(event);
        } else {
            lost += most_events != 0;
        }
    }

    static void add(Waited& target, Waited& source) {
        for (unsigned cause = 0; cause < WAITS; ++cause) target[cause] += std::exchange(source[cause], 0);
    }

    void wait(std::uint64_t cycle, unsigned number, std::uint8_t cause) {
        WaveSlot& slot = slots_[number];
        if (cause != slot.wait) {
            slot.wait = cause;
            tell({cycle, executable_, 0, 0, core, std::uint16_t(number), 0, WAITS_FOR, cause, 0});
        }
        if (cause == FREE) return;
        ++slot.pending[cause];
        if (cause == ISSUE) {
            add(slot.staged, slot.pending);
            slot.is_staged = true;
        }
    }

    void issue(std::uint64_t cycle, unsigned port, unsigned number, std::uint32_t pc, std::uint64_t active,
               std::uint64_t present) {
        WaveSlot& slot = slots_[number];
        Row& row = row_of(pc);
        slot.last = &row;
        row.executable = executable_, row.pc = pc, row.port = port;
        ++row.issues;
        row.active += ones(active);
        row.working += ones(active & present);
        row.present += ones(present);
        if (slot.is_staged) add(row.waited, slot.staged);
        slot.is_staged = false;
        tell({cycle, executable_, pc, ones(present), core, std::uint16_t(number), ones(active & present), ISSUED,
              std::uint8_t(port), 0});
    }

    // The remaining waits of a wavefront count for its last instruction. One that issued none has only waited to start.
    void leave(WaveSlot& slot) {
        if (slot.last) {
            add(slot.last->waited, slot.staged);
            add(slot.last->waited, slot.pending);
        }
        slot.last = nullptr;
        slot.is_staged = false;
    }
};

// Beats of memory ports in a window of cycles.
struct Window {
    std::array<std::uint64_t, 5> read, written;  // As many ports as there may be.
};

class Traffic {
public:
    static constexpr std::uint64_t CYCLES = 64;
    std::vector<Window> windows;

    void begin(std::uint64_t now) {
        if (now / CYCLES >= windows.size() && windows.size() < MOST) windows.push_back({});
        window_ = now / CYCLES;
    }

    template <typename Port, typename Model>
    void see(unsigned number, Model& model) {
        if (window_ >= windows.size()) return;
        windows[window_].read[number] += Port::rvalid(model) && Port::rready(model);
        windows[window_].written[number] += Port::wvalid(model) && Port::wready(model);
    }

private:
    static constexpr std::uint64_t MOST = 1 << 20;
    std::uint64_t window_ = 0;
};

}  // namespace watch

using watch::CoreObserver;
using watch::Traffic;
