"""The state of a session as variables of an editor: scopes, registers, their channels."""

from typing import Any

import numpy as np

from ctm.sim.debug.error import DebugError
from ctm.sim.debug.numbers import CHANNELS, number_text, word_of
from ctm.sim.debug.session import Session
from ctm.sim.debug.views import FLOAT, Value

_REGISTERS, _MASKS, _CONSTANTS, _DOMAIN = range(1, 5)
_SCOPES = {"Registers": _REGISTERS, "Masks": _MASKS, "Constants": _CONSTANTS, "Domain": _DOMAIN}
_FIRST_REGISTER, _FIRST_CONSTANT = 1_000, 1_000_000
"""References to the channels of registers and constants."""


class Values:
    """Variables of the lane that is looked at."""

    def __init__(self, session: Session) -> None:
        self._session, self._channels = session, CHANNELS[session.view.kind]

    def scopes(self) -> list[dict[str, Any]]:
        """What there is to unfold."""
        scopes: list[dict[str, Any]] = [
            {"name": name, "variablesReference": number, "expensive": False} for name, number in _SCOPES.items()
        ]
        scopes[0]["presentationHint"] = "registers"
        return scopes

    def variables(self, reference: int) -> list[dict[str, Any]]:
        """What a scope or a register has; DebugError: there is none of this reference."""
        own = {_REGISTERS: self._registers, _MASKS: self._masks, _CONSTANTS: self._constants, _DOMAIN: self._domain}
        if reference in own:
            return own[reference]()
        name = self._name(reference)
        value = self._value(name)
        return [
            {"name": letter, "value": number_text(value, at, self._session.lane), "evaluateName": f"{name}.{letter}",
             "variablesReference": 0}
            for at, letter in enumerate(self._channels[: len(value.words)])
        ]  # fmt: skip

    def set(self, reference: int, name: str, text: str) -> str:
        """Set a channel, or the lane: what it is then. DebugError: it cannot be set, or not to this."""
        session = self._session
        if reference == _DOMAIN:
            lanes = session.wavefront.batch.size
            if name != "lane" or not text.isdecimal() or int(text) >= lanes:
                raise DebugError(f"of these only `lane` can be set, to 0 to {lanes - 1}")
            session.lane = int(text)
            return text
        if reference < _FIRST_REGISTER:
            raise DebugError("channels of registers can be set: r1.x = 1.5")
        # What is shown has the bits after the number.
        session.set(self._name(reference), name, word_of(text.partition("(")[0].strip()))
        return number_text(self._value(self._name(reference)).channel(name), 0, session.lane)

    def evaluated(self, expression: str) -> dict[str, Any]:
        """What an expression is in the lane; DebugError: it is none."""
        found, lane = self._session.value(expression), self._session.lane
        if not isinstance(found, Value):
            return {
                "result": str(np.broadcast_to(found, self._session.wavefront.batch.size)[lane]),
                "variablesReference": 0,
            }
        if len(found.words) == 1:
            return {"result": number_text(found, 0, lane), "variablesReference": 0}
        names = self._names()
        name = expression.strip()
        reference = _FIRST_REGISTER + names.index(name) if name in names else 0
        return {"result": self._row(found), "variablesReference": reference}

    def _names(self) -> list[str]:
        batch = self._session.wavefront.batch
        masks = self._session.view.masks(batch)
        return [name for name in self._session.view.names(batch) if name not in masks]

    def _name(self, reference: int) -> str:
        names = self._names()
        if _FIRST_REGISTER <= reference < _FIRST_REGISTER + len(names):
            return names[reference - _FIRST_REGISTER]
        if reference >= _FIRST_CONSTANT:
            return f"{self._session.view.constants}{reference - _FIRST_CONSTANT}"
        raise DebugError(f"there are no variables {reference}")

    def _value(self, name: str) -> Value:
        return self._session.view.value(self._session.wavefront.batch, self._session.started.launch, name)

    def _row(self, value: Value) -> str:
        numbers = value.numbers[:, self._session.lane]
        texts = [f"{number:.9g}" if value.kind == FLOAT else str(int(number)) for number in numbers]
        return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"

    def _registers(self) -> list[dict[str, Any]]:
        rows = []
        for at, name in enumerate(self._names()):
            value = self._value(name)
            reference = _FIRST_REGISTER + at if len(value.words) > 1 else 0
            rows.append(
                {"name": name, "value": self._row(value), "evaluateName": name, "variablesReference": reference}
            )
        return rows

    def _masks(self) -> list[dict[str, Any]]:
        masks = self._session.view.masks(self._session.wavefront.batch)
        return [
            {"name": name, "value": "".join("1" if each else "." for each in mask), "evaluateName": name,
             "variablesReference": 0}
            for name, mask in masks.items()
        ]  # fmt: skip

    def _constants(self) -> list[dict[str, Any]]:
        floats, letter = self._session.started.launch.program.constants.all_floats(), self._session.view.constants
        return [
            {"name": f"{letter}{number}", "value": f"({', '.join(f'{value:.9g}' for value in row)})",
             "evaluateName": f"{letter}{number}", "variablesReference": _FIRST_CONSTANT + number}
            for number, row in enumerate(floats) if row.any()
        ]  # fmt: skip

    def _domain(self) -> list[dict[str, Any]]:
        session = self._session
        at, batch, domain = session.position, session.wavefront.batch, session.started.launch.domain
        drawn = {}
        if session.started.drawing is not None:
            pixel = int(batch.i[session.lane]), int(batch.j[session.lane])
            drawn = {"stage": session.started.name, "thread": session.started.thread(session.wavefront.order, *pixel)}
        rows = {
            "launch": str(at.launch), **drawn, "wavefront": f"{at.wavefront} of {len(session.started.order)}",
            "step": str(at.step), "lane": str(session.lane), "i": str(batch.i[session.lane]),
            "j": str(batch.j[session.lane]), "lanes": "".join(batch.lane_states()),
            "domain": f"({domain.i0}, {domain.j0}) to ({domain.i1}, {domain.j1})", "program": session.code.name,
        }  # fmt: skip
        fixed = {"presentationHint": {"attributes": ["readOnly"]}}
        return [
            {"name": name, "value": value, "variablesReference": 0, **({} if name == "lane" else fixed)}
            for name, value in rows.items()
        ]
