"""The ELF file around a program of any kind."""
