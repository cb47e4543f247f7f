"""A job of two kernels: one for the upper half of its output, the other for the lower."""

_JOB = """[program]
file = "{first}"
[[inputs]]
index = 0
file = "x.npy"
format = "FLOAT32_4"
[[outputs]]
index = 0
file = "y.npy"
shape = [4, 8]
format = "FLOAT32_4"
[constants]
float = {{0 = {constant}}}
[[passes]]
domain_i = [0, 7]
domain_j = [0, 1]
[[passes]]
program = "{second}"
domain_i = [0, 7]
domain_j = [2, 3]
"""


def job(first: str, second: str, constant: list[float]) -> str:
    """The text of the job; `constant` is float constant 0."""
    return _JOB.format(first=first, second=second, constant=constant)
