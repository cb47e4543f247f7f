// Functions for Python that read what the observers of a machine have counted. machine.cc precedes this text.

namespace {

// Copies at most `most` elements, in order; how many.
template <typename Each>
std::uint64_t copy(void* target, std::uint64_t most, const Each& all) {
    std::uint64_t count = 0;
    for (const auto& each : all) {
        if (count == most) break;
        std::memcpy(static_cast<char*>(target) + count++ * sizeof each, &each, sizeof each);
    }
    return count;
}

}  // namespace

// Numbers the cores, and from now on keeps up to `most` events of each, in the order of their cycles.
EXPORTED void machine_keep_events(void* handle, std::uint64_t most) {
    std::uint16_t number = 0;
    for (auto& core : machine(handle)->model.cores()) {
        core.observer.core = number++;
        core.observer.most_events = most;
    }
}

// The rows, residencies or events of a core, `most` at most; how many there are if the target is null.
EXPORTED std::uint64_t machine_rows(void* handle, std::uint32_t core, void* target, std::uint64_t most) {
    auto& observer = machine(handle)->model.cores()[core].observer;
    observer.finish();
    std::vector<watch::Row> rows;
    for (const auto& [executable, all] : observer.programs) {
        for (const auto& row : all) {
            if (row.issues) rows.push_back(row);
        }
    }
    return target ? copy(target, most, rows) : rows.size();
}
EXPORTED std::uint64_t machine_residencies(void* handle, std::uint32_t core, void* target, std::uint64_t most) {
    std::vector<watch::Residency> residencies;
    for (const auto& [executable, residency] : machine(handle)->model.cores()[core].observer.residencies) {
        residencies.push_back(residency);
    }
    return target ? copy(target, most, residencies) : residencies.size();
}
EXPORTED std::uint64_t machine_events(void* handle, std::uint32_t core, void* target, std::uint64_t most) {
    const auto& events = machine(handle)->model.cores()[core].observer.events;
    return target ? copy(target, most, events) : events.size();
}
EXPORTED std::uint64_t machine_lost_events(void* handle, std::uint32_t core) {
    return machine(handle)->model.cores()[core].observer.lost;
}

// Beats of each window of Traffic::CYCLES cycles, read and written, port by port; `most` at most, as above.
EXPORTED std::uint64_t machine_traffic(void* handle, void* target, std::uint64_t most) {
    const auto& traffic = machine(handle)->traffic.windows;
    return target ? copy(target, most, traffic) : traffic.size();
}
