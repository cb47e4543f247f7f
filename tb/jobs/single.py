"""Job files with one program and one output."""


def single(file: str, width: int, height: int, more: str = "") -> str:
    """The text of a job over a domain and an output of this size, with `more` after them."""
    return f"""
[program]
file = "{file}"

[domain]
i = [0, {width - 1}]
j = [0, {height - 1}]

[[outputs]]
index = 0
file = "y.npy"
shape = [{height}, {width}]
format = "FLOAT32_4"
{more}"""
