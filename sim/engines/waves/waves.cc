// Functions for Python that control the recorder. machine.cc precedes this text.

// The next cycle is the first one that counts.
EXPORTED void machine_waves_start(void* handle) { machine(handle)->model.recorder.start(); }
EXPORTED void machine_waves_open(void* handle, const WavesWindow* window) {
    machine(handle)->model.recorder.open(*window);
}
EXPORTED void machine_waves_close(void* handle) { machine(handle)->model.recorder.close(); }
EXPORTED void machine_waves_state(void* handle, WavesState* state) { *state = machine(handle)->model.recorder.state; }
