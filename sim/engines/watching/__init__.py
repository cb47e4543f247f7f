"""Engines that show what each instruction does."""
