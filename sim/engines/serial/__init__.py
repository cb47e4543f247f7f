"""The machine on a board, driven over a serial line."""
