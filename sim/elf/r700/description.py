"""What is in an R700 executable, for people."""

from collections import Counter
from typing import Any

from ctm.rtl.isa.r700.control_flow import AluClause, CfOperation
from ctm.rtl.isa.r700.exports import ExportOperation
from ctm.rtl.isa.r700.limits import FETCH_UNITS
from ctm.rtl.isa.r700.pipeline import Pipeline
from ctm.sim.elf.r700.executable import Executable
from ctm.sim.elf.r700.operands import instructions
from ctm.sim.elf.r700.words import Word, words

_ALU = {operation.value: operation.name for operation in AluClause}
_EXPORTS = {operation.value: operation.name for operation in ExportOperation}
_FLOW = {operation.value: operation.name for operation in CfOperation}


def describe(executable: Executable) -> dict[str, Any]:
    """What is in an executable; only values that JSON has.

    Control-flow words and clauses are those that can be reached; `slots` are the instructions of all `groups`.
    """
    found = list(words(executable.code, executable.start))
    slots = [fields for word in found if word.is_alu for fields in instructions(executable.code, word)]
    groups = sum(fields["last"] for fields in slots)
    notes, usage = executable.notes, executable.usage
    return {
        "units": len(executable.code),
        "start": executable.start,
        "type": executable.type.name if executable.pipeline is None else "DRAW",
        "cf_words": len(found),
        "cf_words_by_operation": dict(Counter(map(_name, found)).most_common()),
        "groups": groups,
        "slots": len(slots),
        "slots_per_group": round(len(slots) / groups, 2) if groups else 0.0,
        "fetches": sum(word.units for word in found if not word.is_alu) // FETCH_UNITS,
        "registers": executable.gprs,
        "stack_size": executable.stack_size,
        "inputs": list(notes.inputs),
        "outputs": list(notes.outputs),
        "conditional_output": notes.conditional_output,
        "conditional_value": "program" if executable.depth else "PE",
        "float_constants": list(notes.float_constants),
        "int_constants": list(notes.int_constants),
        "bool_constants": sorted(usage.bool_constants),
        "texture_base": executable.texture_base,
        "lds_dwords": executable.lds_dwords,
        "dx10_clamp": executable.dx10_clamp,
        "memory": executable.memory,
        "scratch": executable.scratch,
        **({} if executable.pipeline is None else _pipeline(executable.pipeline)),
    }


def _pipeline(pipeline: Pipeline) -> dict[str, Any]:
    """The programs of a draw in front of the pixel program, which all else is of."""
    names = [name for name in pipeline.starts if name != "FS"]
    return {
        "stages": dict(pipeline.starts),
        "stage_registers": {name: program.gprs for name, program in zip(names, pipeline.programs, strict=True)},
        "parameters": pipeline.parameters,
        "clip_distances": f"{pipeline.clip_distances:08b}",
        "cull_distances": f"{pipeline.cull_distances:08b}",
        "most_emitted": pipeline.most_emitted,
        "emitted_primitive": pipeline.output.name if pipeline.geometry is not None else "none",
    }


def _name(word: Word) -> str:
    names = _ALU if word.is_alu else _EXPORTS if word.is_export else _FLOW
    code = word.fields["cf_inst"]
    return names.get(code, f"0x{code:x}").lower()
