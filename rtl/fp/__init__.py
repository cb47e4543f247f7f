"""float32 units: unpack, exact raw result, one rounding, pack. docs/arithmetic.md says what they compute.

No unit can stall: each takes operands in every cycle and gives the result a fixed number of cycles later. Who needs to
know which results mean something carries a validity bit beside.
"""
