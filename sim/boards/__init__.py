"""Boards: whole designs down to the pins, and their bitstreams."""
