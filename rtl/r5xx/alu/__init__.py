"""ALU and OUTPUT instructions."""
