"""What a board needs beside the machine: a serial line, a bridge from it to registers and memory, bounds of memory."""
