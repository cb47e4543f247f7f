"""The R700 instruction set (RV770 shader core): words, codes, operations and sizes, each declared once."""
