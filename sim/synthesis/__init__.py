"""Units on an FPGA: how much of it they take, how fast they run there, and what bounds that."""
