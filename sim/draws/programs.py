"""The programs of a recorded draw, linked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ctm.rtl.isa.draws import DRAW_OUTPUTS
from ctm.rtl.isa.limits import FLOAT_CONSTANTS
from ctm.rtl.isa.r700.limits import KCACHE_LINE_ROWS
from ctm.rtl.isa.r700.pipeline import OutputPrimitive
from ctm.sim.draws.error import DrawError
from ctm.sim.draws.registers import Registers
from ctm.sim.elf.r700.executable import Executable, Unit
from ctm.sim.runtime.draws.interpolation import PixelInput, PixelInputs
from ctm.sim.runtime.draws.linking import Geometry, Linkable, VertexOutputs, link

TEXTURE_BASE = 18
"""RESOURCE_ID of texture unit 0 in Mesa's programs."""
_SPRITE_CODES = "01ST"
_ROWS_BY_STAGE = ("ps", "vs", "gs")
_SCENARIO_A, _SCENARIO_G = 1, 3


@dataclass(frozen=True)
class Linked:
    """The executable, and the rows of the float constants of all its programs, words by row."""

    executable: Executable
    constants: dict[int, tuple[int, ...]]


def linked(compiled: Mapping[str, Any], registers: Registers, *, targets: int, points: bool, depth: bool) -> Linked:
    """The programs of one compiler.

    `targets` is their number; `points`: what is drawn are points; `depth`: there is a depth test.

    Raises
    ------
    DrawError
        Something is missing, or does not fit together.
    """
    programs = _section(compiled, "programs")
    constants, bases = _constants(_section(compiled, "constants"))
    mode = registers["VGT_GS_MODE"] & 3
    has_geometry = mode == _SCENARIO_G
    try:
        executable = link(
            vertex=_linkable(programs, "es" if has_geometry else "vs", bases["vs"]),
            fetch=_linkable(programs, "fs", 0) if "fs" in programs else None,
            geometry=_geometry(programs, registers, bases["gs"]) if has_geometry else None,
            pixel=_linkable(programs, "ps", 0),
            inputs=_inputs(registers, points=points, depth=depth and not registers.flag("DB_SHADER_CONTROL", 0)),
            outputs=_outputs(registers),
            primitive_number=mode == _SCENARIO_A,
            texture_base=TEXTURE_BASE,
            masks=_masks(registers, targets),
        )
    except DrawError:
        raise
    except ValueError as error:
        raise DrawError(str(error)) from None
    return Linked(executable, constants)


def _section(table: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = table.get(key, {} if key == "constants" else None)
    if not isinstance(found, Mapping):
        raise DrawError(f"{key}: is missing, or is no table")
    return found


def _linkable(programs: Mapping[str, Any], name: str, constant_base: int) -> Linkable:
    program = programs.get(name)
    if not isinstance(program, Mapping):
        raise DrawError(f"programs.{name}: is missing")
    try:
        words = [int(word, 16) for word in program["dwords"]]
        return Linkable(
            code=_units(words),
            gprs=int(program["gprs"]),
            stack_size=int(program["stack"]),
            dx10_clamp=bool(program["dx10_clamp"]),
            constant_base=constant_base,
        )
    except KeyError as error:
        raise DrawError(f"programs.{name}: {error} is missing") from None
    except (TypeError, ValueError):
        raise DrawError(f"programs.{name}: must have dwords in hexadecimal digits, and numbers beside them") from None


def _units(words: Sequence[int]) -> tuple[Unit, ...]:
    if not words or len(words) % 2 or not all(0 <= word < 1 << 32 for word in words):
        raise ValueError
    return tuple((words[at], words[at + 1]) for at in range(0, len(words), 2))


def _geometry(programs: Mapping[str, Any], registers: Registers, constant_base: int) -> Geometry:
    kinds = {each.value: each for each in OutputPrimitive}
    kind = registers["VGT_GS_OUT_PRIM_TYPE"] & 0x3F
    if kind not in kinds:
        raise DrawError(f"VGT_GS_OUT_PRIM_TYPE is {kind}, not 0..{len(kinds) - 1}")
    return Geometry(
        program=_linkable(programs, "gs", constant_base),
        copy=_linkable(programs, "dc", 0),
        vertex_item=registers["SQ_ESGS_RING_ITEMSIZE"],
        item=registers["SQ_GSVS_RING_ITEMSIZE"],
        emitted_item=registers["SQ_GS_VERT_ITEMSIZE"],
        most_emitted=registers["VGT_GS_MAX_VERT_OUT"],
        output=kinds[kind],
    )


def _constants(stages: Mapping[str, Any]) -> tuple[dict[int, tuple[int, ...]], dict[str, int]]:
    """Rows of bank 0 of all stages, one stage after the other, and the line in which each begins."""
    rows: dict[int, tuple[int, ...]] = {}
    bases: dict[str, int] = {}
    line = 0
    for stage in _ROWS_BY_STAGE:
        bases[stage] = line
        listed = stages.get(stage, {}).get("0", [])
        for number, row in enumerate(listed):
            rows[KCACHE_LINE_ROWS * line + number] = tuple(int(word, 16) for word in row)
        line += -(-len(listed) // KCACHE_LINE_ROWS)
    if KCACHE_LINE_ROWS * line > FLOAT_CONSTANTS:
        raise DrawError(f"constants: the programs have {KCACHE_LINE_ROWS * line} rows, and there are {FLOAT_CONSTANTS}")
    return rows, bases


def _outputs(registers: Registers) -> VertexOutputs:
    control = "PA_CL_VS_OUT_CNTL"
    return VertexOutputs(
        parameters=registers.bits("SPI_VS_OUT_CONFIG", 5, 1) + 1,
        clip_distances=registers.bits(control, 7, 0),
        cull_distances=registers.bits(control, 15, 8),
        misc=registers.flag(control, 21),
        distance_vectors=(registers.flag(control, 22), registers.flag(control, 23)),
    )


def _inputs(registers: Registers, *, points: bool, depth: bool) -> PixelInputs:
    count = registers.bits("SPI_VS_OUT_CONFIG", 5, 1) + 1
    semantics = [registers[f"SPI_VS_OUT_ID_{vector // 4}"] >> 8 * (vector % 4) & 0xFF for vector in range(count)]
    first, second = "SPI_PS_IN_CONTROL_0", "SPI_PS_IN_CONTROL_1"
    sprite = registers["SPI_INTERP_CONTROL_0"]
    codes = [sprite >> 2 + 3 * channel & 7 for channel in range(4)]
    if max(codes) >= len(_SPRITE_CODES):
        raise DrawError(f"SPI_INTERP_CONTROL_0 is 0x{sprite:08x}: there is no sprite component {max(codes)}")
    position = registers.bits(first, 14, 10) if registers.flag(first, 8) else None
    face = (registers.bits(second, 16, 12), registers.bits(second, 10, 9)) if registers.flag(second, 8) else None
    return PixelInputs(
        inputs=[
            _input(registers[f"SPI_PS_INPUT_CNTL_{number}"], semantics) for number in range(registers.bits(first, 5, 0))
        ],
        position=position,
        face=face,
        points=points,
        sprite="".join(_SPRITE_CODES[code] for code in codes),
        sprite_top=bool(sprite >> 14 & 1),
        depth=depth,
    )


def _input(word: int, semantics: Sequence[int]) -> PixelInput:
    semantic = word & 0xFF
    return PixelInput(
        parameter=semantics.index(semantic) if semantic and semantic in semantics else None,
        default=word >> 8 & 3,
        flat=bool(word >> 10 & 1),
        linear=bool(word >> 12 & 1),
        sprite=bool(word >> 17 & 1),
    )


def _masks(registers: Registers, targets: int) -> dict[int, int]:
    """The channels that are enabled of each target; of those that are not there none is."""
    enabled = registers["CB_TARGET_MASK"] & registers["CB_SHADER_MASK"]
    return {target: enabled >> 4 * target & 15 if target < targets else 0 for target in range(DRAW_OUTPUTS)}
