"""float32 units: unpack, exact raw result, one rounding, pack. docs/arithmetic.md says what they compute.

No unit can stall: each takes operands in every cycle and gives the result a fixed number of cycles later. A user that
needs a valid bit delays it beside the unit.
"""
