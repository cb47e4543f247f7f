"""Uncached writes (UMRT): an OUTPUT that stores one 32-bit value at coordinates of its own. Source: CTM Guide p. 31."""

from ctm.rtl.isa.limits import QUAD
from ctm.rtl.isa.r5xx.opcodes import UmrtTarget
from ctm.sim.engines.fast.kernel import Kernel
from ctm.sim.engines.fast.parameters import output_number
from ctm.sim.engines.fast.r5xx.alu import Result
from ctm.sim.engines.fast.r5xx.gates import Gates
from ctm.sim.engines.fast.vector import selection
from ctm.sim.engines.fast.vector.address import element_address
from ctm.sim.engines.fast.vector.elements import scatter
from ctm.sim.engines.fast.vector.lanes import Lanes, Value
from ctm.sim.golden.r5xx.instruction import Alu

_SHARED = (UmrtTarget.SAME_IDX.value, UmrtTarget.SAME_IDX_ACQUIRE.value)


def write_uncached(kernel: Kernel, gates: Gates, instruction: Alu, results: dict[int, Result]) -> None:
    """Store the results of `instruction` in output 0 (FLOAT32_1): R is the data, G and B are the coordinates."""
    lanes, builder, registers = kernel.lanes, kernel.lanes.builder, gates.registers
    number = output_number(0)
    form, buffer = kernel.frame.buffers[number], kernel.buffers[number]
    if form.is_empty:
        return
    chosen = builder.and_(kernel.covered, registers.mask(registers.valid_mask))
    executing = gates.base()
    for channel in range(3):
        gate = gates.of(instruction.common, channel, executing)
        chosen = chosen if gate is None else builder.and_(chosen, gate)
    coordinates = [lanes.apply("floor", lanes.spread(results[channel].value)) for channel in (1, 2)]
    if instruction.rgb.target in _SHARED:
        active = kernel.covered
        if not gates.uniform:
            active = builder.and_(active, registers.mask(registers.active))
        coordinates = [_from_leader(lanes, value, active) for value in coordinates]
    indices = []
    for value, limit in zip(coordinates, (buffer.width_limit, buffer.height_limit), strict=True):
        bound = builder.sitofp(lanes.splat(limit), lanes.floats)
        inside = builder.and_(
            builder.fcmp_ordered(">=", value, lanes.single(0)), builder.fcmp_ordered("<", value, bound)
        )
        chosen = builder.and_(chosen, lanes.mask(inside))
        indices.append(builder.fptosi(lanes.choose(inside, value, lanes.single(0)), lanes.integers))
    data = lanes.spread(results[0].value)
    if results[0].any_nan:
        data = selection.canonical(lanes, data)
    address = element_address(lanes, form, buffer, *indices)
    with builder.if_then(lanes.any(chosen)):
        scatter(lanes, form, buffer.memory, address, [lanes.words(data)], [chosen])


def _from_leader(lanes: Lanes, values: Value, eligible: Value) -> Value:
    """Each quad's value of its lowest eligible lane."""
    result = lanes.of_quad(values, 0)
    for lane in reversed(range(QUAD)):
        result = lanes.where(lanes.of_quad(eligible, lane), lanes.of_quad(values, lane), result)
    return result
