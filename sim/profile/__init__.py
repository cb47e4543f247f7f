"""Where a program's time goes: by instruction, by source line, and in a sentence."""
