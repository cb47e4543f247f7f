"""The functions of a C header that LiteDRAM writes, read as what they do: words written to registers, and waits."""

import re
from collections.abc import Iterator, Mapping

from ctm.rtl.board.startup import Step
from ctm.sim.compiled.error import ToolchainError

_DEFINE = re.compile(r"^#define (\w+) (0x[0-9a-fA-F]+|\d+)$", re.MULTILINE)
_FUNCTION = re.compile(r"static inline void (\w+)\((?:void|int (\w+))\)\s*\{\n(.*?)\n\}", re.DOTALL)
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_CALL = re.compile(r"(\w+)\((.*)\)")
_WRITE = "_write"
_WAIT = "cdelay"


class Header:
    """A header, and the addresses of the registers that it writes.

    Raises
    ------
    ToolchainError
        From `steps`: the header has what is not understood, as that of another version may.
    """

    def __init__(self, text: str, registers: Mapping[str, int]) -> None:
        self._constants = {name: int(value, 0) for name, value in _DEFINE.findall(text)}
        self._functions = {name: (parameter, body) for name, parameter, body in _FUNCTION.findall(text)}
        self._registers = registers

    def steps(self, function: str) -> tuple[Step, ...]:
        """What a function does; each iteration of its waiting loops is a cycle, where a processor's takes longer."""
        found: list[Step] = []
        for address, value in self._calls(function):
            if address is not None:
                found.append(Step(address=address, value=value))
            elif found:
                last = found.pop()
                found.append(Step(address=last.address, value=last.value, wait=last.wait + value))
        return tuple(found)

    def write(self, register: str, value: str) -> Step:
        """A constant, or more with "|" between them, written to a register."""
        return Step(address=self._address(register), value=self._value(value, {}))

    def _calls(self, function: str, argument: int = 0) -> Iterator[tuple[int | None, int]]:
        """Addresses and words, or no address and cycles."""
        if function not in self._functions:
            raise _unknown(function)
        parameter, body = self._functions[function]
        known = {parameter: argument}
        for statement in filter(None, (text.strip() for text in _COMMENT.sub("", body).split(";"))):
            call = _CALL.fullmatch(statement)
            if call is None:
                raise _unknown(statement)
            name, value = call[1], self._value(call[2], known)
            if name == _WAIT:
                yield None, value
            elif name.endswith(_WRITE):
                yield self._address(name.removesuffix(_WRITE)), value
            else:
                yield from self._calls(name, value)

    def _address(self, register: str) -> int:
        if register not in self._registers:
            raise _unknown(register)
        return self._registers[register]

    def _value(self, text: str, known: Mapping[str, int]) -> int:
        value = 0
        for term in text.split("|"):
            number = {**self._constants, **known}.get(term.strip())
            try:
                value |= int(term, 0) if number is None else number
            except ValueError:
                raise _unknown(term) from None
        return value


def _unknown(what: str) -> ToolchainError:
    return ToolchainError(
        f"litedram: the start of memory has '{what}', which is not understood; is it another version?"
    )
