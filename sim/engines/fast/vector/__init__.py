"""The machine's arithmetic and memory formats as LLVM IR on vectors: one lane of a vector is one pixel.

What is built here runs with the host's denormals off (MXCSR's FTZ and DAZ set), whose rules are the machine's: a
denormal operand is a zero of its sign, and so is a result that is below 2^-126 after rounding. A result of arithmetic
is never a denormal; it may be any NaN, which `selection.canonical` makes the machine's one.
"""
