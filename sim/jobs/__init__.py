"""Jobs: a program, its buffers and its launches, described in a TOML file."""
