"""The host interface: registers on an AXI4-Lite bus, the queue of command buffers, interrupt, reset, counters."""
