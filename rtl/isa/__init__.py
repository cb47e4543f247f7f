"""The declarations of the machine: every command, word, code and constant, once.

Hardware, assembler, golden model, runtime and the tables of the documentation read these modules and nothing else.
They import `amaranth.lib.enum` and `amaranth.lib.data` only.
"""
