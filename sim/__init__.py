"""Software around the machine: golden model, assembler, executables, runtime, command line."""
