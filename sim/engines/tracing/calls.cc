// Functions for Python that read the events that were kept. machine.cc precedes this text.

EXPORTED const std::uint32_t* machine_trace(void* handle, unsigned kind, std::uint64_t* words) {
    const Words& found = machine(handle)->model.events[kind];
    *words = found.size();
    return found.data();
}
EXPORTED void machine_discard_trace(void* handle) {
    for (Words& words : machine(handle)->model.events) words.clear();
}

// Keeps events of one wavefront only: see `Wanted` in engine.py.
EXPORTED void machine_trace_wavefront(void* handle, std::uint32_t i, std::uint32_t j, std::uint32_t before,
                                      std::uint32_t stage) {
    machine(handle)->model.wanted = {true, i, j, before, stage};
}
EXPORTED bool machine_trace_is_complete(void* handle) { return machine(handle)->model.wanted.is_over; }
