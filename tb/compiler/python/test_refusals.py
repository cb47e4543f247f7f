"""Whatever is unsupported in a Python kernel is an error with file, line and a sentence."""

import re

import pytest

from ctm.sim.compiler import KernelError, compile_kernel
from ctm.sim.compiler.source import Source
from ctm.tb.compiler.python.modules import HEAD

PRELUDE = """import os
import math as m
from elsewhere import helper
LIMIT = len("abc")
TWICE = 1
TWICE = 2
NAMES = ("a", "b")
HUGE = 1 << 40
TABLE = (1.5, 2.5, 4.0)
def recursive(x: float) -> float:
    return x if x < 1 else recursive(x - 1)
def nothing(x: float):
    y = x
def partly(x: float):
    if x > 0:
        return 1.0
def pair(x: float):
    return x, x
def starred(*x):
    return x[0]
def wrong(x: float):
    return x @ x
class Thing: pass
"""


def complaint(*lines: str, head: str = "pixel: vec2, image: Image, k: float, n: int, items: list[float]") -> str:
    """What is said of a kernel with these lines, the first of which is line 1; a result is added."""
    body = "".join(f"    {line}\n" for line in (*lines, "return 1.0"))
    text = f"{HEAD}{PRELUDE}@ctm.kernel\ndef kernel_({head}):\n{body}"
    first = text.count("\n") - body.count("\n")
    with pytest.raises(KernelError) as caught:
        compile_kernel(Source(text, "k.py"))
    (line,) = str(caught.value).splitlines()
    found = re.fullmatch(r"k\.py:(\d+): (\S.*)", line)
    assert found is not None, line
    return f"{int(found[1]) - first}: {found[2]}"


STATEMENTS = {
    "with open('x'): pass": "1: with: a kernel has no resources",
    "try: k = 1.0\n    except OSError: pass": "1: try: cores have no exceptions",
    "raise ValueError": "1: raise: cores have no exceptions; discard() drops a pixel",
    "assert k > 0": "1: assert: cores have no exceptions",
    "import math": "1: an import in a kernel: write it at the top of the file",
    "from math import sin": "1: an import in a kernel",
    "global k": "1: global: cores keep nothing from pixel to pixel",
    "def f(): pass": "1: a function in a function: write it at the top of the file",
    "class A: pass": "1: a class: kernels have",
    "del k": "1: del: variables need not be deleted",
    "match n:\n        case 1: pass": "1: match: write if and elif",
    "x: float": "1: a variable without a value: give it one",
    "for i in range(3): pass\n    else: k = 1.0": "2: else of a loop: set a variable before break",
    "while k > 0: break\n    else: k = 1.0": "2: else of a loop",
    "for x in items: pass": "1: the length of a list of constants is not known: loop over a range",
    "for x in image: pass": "1: a loop goes over range(...), unroll(range(...)), a tuple or a list",
    "for x in unroll((1, 2)): pass": "1: unroll() takes a range(...); a loop over a tuple or a list is unrolled",
    "for x in (1, pixel): pass": "1: a loop goes over numbers of a table, or up to 32 items of one type and length",
    "for x in reversed(enumerate((1, 2))): pass": "1: reversed() takes a tuple, a list or a range: write it inside",
    "for x in reversed(range(n)): pass": "1: a range with computed ends goes by itself only; range(n - 1, -1, -1)",
    "for x in zip((1, 2), (3,), strict=True): pass": "1: zip() of 2, 1 items",
    "for x in zip(): pass": "1: zip() takes tuples and lists",
    "for x in enumerate((1, 2), 0.5): pass": "1: enumerate() begins with an int",
    "for x in enumerate((1, 2), begin=1): pass": "1: enumerate() takes a tuple or a list, and the number of its first",
    "for x in (): pass": "1: a loop over nothing: the tuple is empty",
    "w = [1.0, k]\n    for x in w: w = [k, k]": "2: a new list in a loop over the old one: take another name",
    "for i, j in range(3): pass": "1: 2 variables for one value",
    "for i in range(0, 9, n): pass": "1: the step of a range is a number that is known, and not 0",
    "for i in range(3, step=2): pass": "1: range() takes one to three ints",
    "for i in range(k): pass": "1: range() takes one to three ints",
    "for i in range(1, 2, 3, 4): pass": "1: range() takes one to three ints",
    "k, *n = k, 1": "1: a target with a star: name each item",
    "pixel.x = 1.0": "1: components do not change: make a new vector",
    "pixel.x += 1.0": "1: components do not change",
    "items[0] = 1.0": "1: only items of a list of the kernel's own change",
    "TABLE[0] = 1.0": "1: only items of a list of the kernel's own change",
    "k = image": "1: a list, an image or a function has one name only",
    "k, *n = 1.0, 2, 3": "1: a target with a star: name each item",
    "k, n = 1.0, 2, 3": "1: 2 variables for 3 values",
    "k, n = 1.0": "1: 2 variables for one value",
    "n = k": "1: 'n' is an int, and this a float: convert it, or let n be a float from the beginning",
    "n += 0.5": "1: 'n' is an int, and this a float",
    "n = pixel": "1: 'n' is an int, and this a vec2: convert it",
    "k = (1.0, 2.0)": "1: 'k' was something else above: take another name",
    "if k > 0: y = 1.0\n    k = y": "2: 'y' may have no value here: give it one before the if or the loop",
    "for i in range(n): y = 1.0\n    k = y": "2: 'y' may have no value here",
    "for i in range(3):\n        if k > i: continue\n        y = 1.0\n    k = y": "4: 'y' may have no value here",
    "for i in (n, 2):\n        if k > i: break\n        y = 1.0\n    k = y": "4: 'y' may have no value here",
    "k = y\n    y = 1.0": "1: 'y' may have no value here",
    "w = [1.0] * n": "1: the length of a list is a number that is known",
    "w = v = [1.0] * 4": "1: a list has one name",
    "w = [1.0, pixel]": "1: a list has a known length and items of one type",
    "w = [1.0] * 4\n    w = [1.0] * 5": "2: 'w' was something else above",
    "w = []": "1: a list has a known length and items of one type: items = [0.0] * 8",
    "w = [[0.0] * 3] * 3": "1: a list of lists: make one list of all items, and compute the index",
    "w = [n, uint(n)]": "1: a list has a known length and items of one type",
    "w = [1.0] * 4\n    w[1] = pixel": "2: the list's items are a float, and this a vec2",
    "if k > 0: return 1.0, 2.0": "2: it returns another number of values here than above",
    "if k > 0: return pixel": "2: it returns a vec2, and this a float: convert it",
    "if k > 0: return image": "1: numbers, vectors and tuples of them can be returned",
    "await k": "1: await: a kernel is an ordinary function",
    "async with k: pass": "1: async: a kernel is an ordinary function",
}
EXPRESSIONS = {
    "'text'": "text: kernels have numbers and vectors only",
    "...": "...: a kernel that does nothing has the statement pass",
    "None": "None: kernels have numbers and vectors only",
    "1j": "a complex number: kernels have",
    "b'x'": "bytes: kernels have",
    "f'{k}'": "text: cores have none; print from the host",
    "lambda: 1": "a lambda: write a function with def",
    "[x for x in items]": "a comprehension: write a loop that fills a list",
    "sum(x for x in items)": "a comprehension: write a loop",
    "{1: 2}": "a dict: write several variables",
    "{1, 2}": "a set: write several variables",
    "(y := 1.0)": "an assignment in an expression: write it in a line of its own",
    "max(*items)": "a starred expression: write each item",
    "items[0:2]": "a slice: write each item",
    "(yield)": "yield: a kernel returns its results",
    "k if n else pixel": "it is float or vec2: make both the same",
    "k @ k": "float @ float",
    "k & 1": "float & int: it is for whole numbers",
    "~k": "~ of a float: it is for whole numbers",
    "1 << 70": "70 is too large here",
    "1 << 40": "has more than 32 bits: write a float, or a smaller number",
    "99999999999": "99999999999 has more than 32 bits",
    "1 / 0": "division by zero",
    "2 ** 99999999": "is too large here",
    "n ** n": "a whole number to a power that is not a known number: make it float",
    "k in (1, 2)": "'in' and 'is' are for objects: compare numbers with ==",
    "k is n": "'in' and 'is' are for objects",
    "pixel < pixel": "vectors are compared component by component",
    "1.0 if pixel else 0.0": "a vector is neither true nor false: compare its components",
    "k and pixel": "'and' and 'or' of different types: compare first",
    "k or n": "'and' and 'or' of different types",
    "pixel + vec3(1)": "vec2 + vec3",
    "uint(n) + n": "uint + int: make both uint or both int",
    "(n if k > 0 else uint(n)) + 1": "int or uint + int: make both uint or both int",
    "n << -1": "a negative shift: shift in the other direction",
    "pixel // 2": "// of vectors: write it for each component",
    "pixel.q": "a vec2 has no '.q'",
    "pixel.z": "a vec2 has no '.z'",
    "pixel.xg": "a vec2 has no '.xg'",
    "k.x": "'.x': only vectors have components",
    "image.shape": "an image has no '.shape': give its width and its height as parameters of int",
    "image[0]": "an image has no items: texel(image, x, y) is one of its elements",
    "image + 1": "an image where a number or a vector is needed",
    "items + 1": "a list where a number or a vector is needed",
    "(1, 2) + 1": "a tuple where a number or a vector is needed",
    "sin + 1": "a function where a number or a vector is needed",
    "items[-1]": "the length of a list of constants is not known: count from its start",
    "items[k]": "an index is an int",
    "pixel[2]": "there is no item 2: there are 2",
    "(k, pixel)[n]": "a computed index: it is for tuples of up to 32 items of one type",
    "len(items)": "len() takes a list that is made in the kernel; give the length of another as an int",
    "k(1)": "this is no function",
    "print(k)": "print(): cores have no text; call the kernel in plain Python",
    "open('x')": "text: kernels have",
    "sorted(k)": "sorted() is not a function of kernels: docs/kernels.md has those that there are",
    "max(k, default=1)": "an argument with a name: give arguments by their order",
    "sqrt(k, k)": "sqrt() takes one number or vector of float, not (float, float)",
    "sqrt()": "sqrt() takes one number or vector of float, not (nothing)",
    "max(pixel, pixel)": "max() takes two or more numbers of int or uint or float, not (vec2, vec2)",
    "dot(pixel, k)": "dot() takes two of vec2 or vec3 or vec4, not (vec2, float)",
    "cross(pixel, pixel)": "cross() takes two of vec3",
    "vec2(1, 2, 3)": "vec2() takes 2 components, not (int, int, int)",
    "texel(k, pixel)": "texel() takes an image, and its coordinates as a vec2, an ivec2, or x and y",
    "texel(image)": "texel() takes an image",
    "texel(image, vec3(1))": "texel() takes an image",
    "bit_count(k)": "bit_count() takes (uint), not (float)",
    "as_int(n)": "as_int() takes a float or a vector of them, not (int)",
    "math.sqrt(-1)": "sqrt(-1): math domain error",
    "math.tan(k)": "tan() is not a function of kernels",
    "math.nothing": "math has no 'nothing'",
    "nothing(k) + 1": "a tuple where a number or a vector is needed",
    "pair(k, k)": "pair() takes 1 arguments, not 2",
    "pair(y=k)": "pair() has no parameter 'y'",
    "pair(k, x=k)": "pair() is given 'x' twice",
    "pair(**k)": "pair() has no parameter '**'",
    "pair(pixel)": "'x' is float, and this is vec2: convert it",
    "pair((k, k))": "a tuple or a list as an argument: give its items",
    "starred(k)": "starred() has *, / or ** among its parameters",
    "helper(k)": "'helper' comes from another file, which is not read: define it in this one",
    "os.getpid()": "a kernel can use math, ctm, ctm.language, and not 'os'",
    "unknown": "there is no 'unknown'",
    "LIMIT": "'LIMIT' is no number: write a number, or a tuple of numbers",
    "TWICE": "'TWICE' is not known before the program runs: give it one value, in a line of its own",
    "NAMES[0]": "'NAMES' is no number",
    "HUGE": "has more than 32 bits",
    "Thing()": "'Thing' is not known before the program runs",
    "ctm.Device()": "Device() is not a function of kernels",
    "range(3)": "range() is not a function of kernels",
}
IN_FUNCTIONS = {
    "recursive(k)": "recursive calls itself: cores have no stack for data; write a loop",
    "partly(k)": "partly() does not return on every path",
    "wrong(k)": "float @ float",
}
HEADS = {
    "": "a kernel takes the pixel: write def name(pixel: vec2, picture: Image, factor: float)",
    "pixel": "'pixel' has no type that a kernel takes: write",
    "pixel: float": "the first parameter is the pixel, a vec2 or an ivec2: write",
    "pixel: vec2, k": "'k' has no type that a kernel takes: write",
    "pixel: vec2, k: str": "'k' has no type that a kernel takes",
    "pixel: vec2, k: list": "'k' has no type that a kernel takes",
    "pixel: vec2, k: Image[vec2]": "'k' has no type that a kernel takes",
    "pixel: vec2, k: 'in'": "'k' has no type that a kernel takes",
    "pixel: vec2, k: float = 1.0": "a default value: a kernel is called with all of its arguments",
    "pixel: vec2, *k": "kernel_() has *, / or ** among its parameters",
    "pixel: vec2, *, k: float": "kernel_() has *, / or ** among its parameters",
    "pixel: vec2, " + ", ".join(f"i{n}: Image" for n in range(17)): "it takes 17 images, and there are 16 inputs",
    "pixel: vec2, " + ", ".join(f"c{n}: float" for n in range(257)): "it takes more than 256 constants",
}


@pytest.mark.parametrize("line", STATEMENTS)
def test_statements_that_kernels_have_not(line: str) -> None:
    assert complaint(line).startswith(STATEMENTS[line])


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_expressions_that_kernels_have_not(text: str) -> None:
    line, _, message = complaint("k = 1.0", f"v = {text}").partition(": ")
    assert (line, EXPRESSIONS[text] in message) == ("2", True), message


@pytest.mark.parametrize("text", IN_FUNCTIONS)
def test_what_is_wrong_in_a_function_has_that_functions_line(text: str) -> None:
    line, _, message = complaint(f"k = {text}").partition(": ")
    assert int(line) < 0
    assert IN_FUNCTIONS[text] in message


@pytest.mark.parametrize("head", HEADS)
def test_parameters_that_kernels_have_not(head: str) -> None:
    assert HEADS[head] in complaint(head=head)


def refusal(text: str, name: str | None = None, isa: str = "r700") -> str:
    """What is said of a whole source."""
    with pytest.raises(KernelError) as caught:
        compile_kernel(Source(text, "k.py"), name=name, isa=isa)
    return str(caught.value)


KERNEL = "@ctm.kernel\ndef {}(pixel: vec2):\n    {}\n"


def test_which_kernel_is_meant_must_be_clear() -> None:
    two = HEAD + KERNEL.format("a", "return 1.0") + KERNEL.format("b", "return 2.0")
    assert refusal(two) == "k.py:1: one of its kernels must be named: a, b"
    assert refusal(two, "c") == "k.py:1: it has no kernel 'c'; there is: a, b"
    assert refusal(HEAD) == "k.py:1: it has no kernel: write @ctm.kernel above a function at the top of the file"
    assert refusal(two.replace("def b", "def a"), "a") == "k.py:1: it has several kernels 'a'"
    assert compile_kernel(Source(two, "k.py"), name="b").name == "b"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("pass", "k.py:5: a kernel returns its result: a number, a vector, or a tuple of them"),
        ("return", "k.py:5: a kernel returns its result"),
        ("discard()", "k.py:5: a kernel returns its result"),
        ("return 1, 2, 3, 4, 5", "k.py:5: it returns 5 values, and there are 4 outputs"),
        ("if pixel.x > 1: return 1.0", "k.py:5: k() does not return on every path"),
        ("while pixel.x > 1: return 1.0", "k.py:5: k() does not return on every path"),
        ("return 1 +", "k.py:6: Python: invalid syntax"),
        ("return (1", "k.py:6: Python: '(' was never closed"),
        ("  return 1.0\n   return 2.0", "k.py:7: Python: unindent does not match any outer indentation level"),
    ],
)
def test_a_kernel_has_a_result(body: str, message: str) -> None:
    assert refusal(HEAD + KERNEL.format("k", body)).startswith(message)


def test_deep_nesting_is_told() -> None:
    for text in ("(" * 5000 + "1" + ")" * 5000, "-" * 5000 + "pixel.x", "+".join(["pixel.x"] * 5000)):
        assert re.match(r"k\.py:\d+: .*nest", refusal(HEAD + KERNEL.format("k", f"return {text}")))


def test_what_one_instruction_set_cannot_do_has_the_line_of_python() -> None:
    for text in ("bit_count(uint(1))", "float(int(x) ^ int(3 * x))", "as_int(pixel.x)"):
        body = f"x = pixel.x\n    return x + {text}".replace("uint(1)", "uint(int(x))")
        found = refusal(HEAD + KERNEL.format("k", body), isa="r5xx")
        assert re.match(r"k\.py:7: \S", found), found


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("w = [0.0] * 4\n    w[int(pixel.x)] = 1.0\n    return w[1]", "a list with a computed index"),
        ("w = [1, 2]\n    for k in range(int(pixel.x)):\n        w[k] = 1\n    return w[1]", "a list with a computed"),
    ],
)
def test_what_is_said_of_c_is_said_of_python(body: str, message: str) -> None:
    said = refusal(HEAD + KERNEL.format("k", body), isa="r5xx")
    assert re.match(rf"k\.py:\d+: {message}", said)
    assert "unroll(range(...)) makes indices known" in said
    assert "#pragma" not in said
