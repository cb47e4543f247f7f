"""What commands set, and the commands that set it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ctm.rtl.isa.commands import BASE_MASK, Command
from ctm.rtl.isa.conditional import ConditionalLocation, ConditionalTest
from ctm.rtl.isa.draws import DRAW_OUTPUTS, IndexFormat
from ctm.rtl.isa.formats import FORMAT, DataFormat, Tiling
from ctm.rtl.isa.limits import ADDRESS_SPACE, CHANNELS, INPUTS, OUTPUTS
from ctm.rtl.isa.status import Status
from ctm.rtl.isa.word import unpack
from ctm.sim.fault import MachineError
from ctm.sim.golden.co.unit import ConditionalUnit
from ctm.sim.golden.mc.buffer import Buffer
from ctm.sim.golden.pe.domain import Domain

_CONSTANT_FORMATS = ("set_constf_fmt", "set_consti_fmt", "set_constb_fmt")
_ELEMENT_FORMATS = ("set_inp_fmt", "set_out_fmt", "set_cond_out_fmt")


@dataclass(kw_only=True)
class State:
    """State that persists from command to command; the defaults are the reset state."""

    domain: Domain = Domain()
    conditional_value: int = 0
    inputs: list[Buffer] = field(default_factory=lambda: [Buffer()] * INPUTS)
    outputs: list[Buffer] = field(default_factory=lambda: [Buffer()] * DRAW_OUTPUTS)
    output_mask: tuple[bool, ...] = (True,) * CHANNELS
    conditional: ConditionalUnit = field(default_factory=ConditionalUnit)
    instruction_base: int = 0
    constant_bases: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_CONSTANT_FORMATS, 0))
    counters_enabled: bool = False

    @property
    def conditional_float(self) -> np.float32:
        """The conditional value of the PE as a float."""
        return np.uint32(self.conditional_value).view(np.float32)

    def copy(self) -> "State":
        """The same state, which no later command changes."""
        return replace(
            self,
            inputs=list(self.inputs),
            outputs=list(self.outputs),
            conditional=replace(self.conditional),
            constant_bases=dict(self.constant_bases),
        )

    def apply(self, command: Command, words: Sequence[int]) -> None:
        """Execute a command that sets state; any other does nothing here."""
        parameters = dict(zip(command.parameters, words, strict=True))
        fields = {name: unpack(command.parameters[name], word) for name, word in parameters.items()}
        if "base" in parameters:
            self._set_buffer(command.name, parameters)
        elif command.name == "set_domain":
            self.domain = Domain(**{name: bounds["bound"] for name, bounds in fields.items()})
        elif command.name == "set_cond_val":
            self.conditional_value = fields["value"]["value"]
        elif command.name == "set_out_mask":
            self.output_mask = tuple(bool(fields["mask"]["mask"] >> channel & 1) for channel in range(CHANNELS))
        elif command.name == "set_cond_out_mask":
            self.conditional.write_enabled = bool(fields["conditional_mask"]["mask"])
        elif command.name == "set_cond_test":
            self.conditional.test = ConditionalTest(fields["condition"]["condition"])
        elif command.name == "set_cond_loc":
            self.conditional.location = ConditionalLocation(fields["location"]["location"])
        elif command.name == "init_perf_counters":
            self.counters_enabled = bool(fields["flags"]["enable"])

    def _set_buffer(self, name: str, parameters: Mapping[str, int]) -> None:
        base = parameters["base"] & BASE_MASK
        if name == "set_inst_fmt":
            self.instruction_base = base
        elif name in _CONSTANT_FORMATS:
            self.constant_bases[name] = base
        else:
            buffer = Buffer.from_words(base, parameters["format"], parameters["height"])
            if name == "set_inp_fmt":
                self.inputs[parameters["input"] & 0xF] = buffer
            elif name == "set_out_fmt":
                self.outputs[parameters["output"] & 0xF] = buffer
            else:
                self.conditional.buffer = buffer


def check_parameters(command: Command, address: int, words: Sequence[int], *, targets: int = OUTPUTS) -> None:
    """Check a command's parameters; `address` is that of the command word, `targets` the number of outputs.

    Raises
    ------
    MachineError
        BAD_PARAMETER at the first word that is wrong.
    """
    for index, (name, word) in enumerate(zip(command.parameters, words, strict=True), start=1):
        detail = ""
        if name == "format":
            detail = _format_fault(command.name, word)
        elif name == "output" and word & 0xF >= targets:
            detail = f"there is no output {word & 0xF}"
        elif name == "index_format" and word & 3 not in [known.value for known in IndexFormat]:
            detail = f"index format {word & 3} is reserved"
        if detail:
            detail = f"{command.name}: {detail}"
            at = (address + 4 * index) % ADDRESS_SPACE
            raise MachineError(status=Status.BAD_PARAMETER, address=at, word=word, detail=detail)


def _format_fault(name: str, word: int) -> str:
    fields = unpack(FORMAT, word)
    if name == "set_inst_fmt" and word:
        return "the format word of the program is not 0"
    if name in _CONSTANT_FORMATS and fields["tiling"] not in (Tiling.LINEAR.value, Tiling.LINEAR_INP_2X2.value):
        return "constants cannot be tiled"
    if name in _ELEMENT_FORMATS and fields["format"] > DataFormat.FLOAT32_4.value:
        return f"format {fields['format']} is reserved"
    return ""
