"""`Device.debug`: a session of what calls do to a device, with the verbs of the line mode."""

import numpy as np
import pytest

from ctm.language import vec2
from ctm.rtl.config import PRESETS, TINY
from ctm.rtl.isa.formats import DataFormat
from ctm.sim.assembler import assemble
from ctm.sim.debug.debugger import Debugger
from ctm.sim.debug.error import DebugError
from ctm.sim.debug.walk import Position
from ctm.sim.fault import MachineError
from ctm.sim.kernels import kernel
from ctm.sim.runtime.commands import CommandBuffer
from ctm.sim.runtime.device import Device
from ctm.sim.runtime.image import Image
from ctm.sim.runtime.layout import Layout

SIDE = 8
SOURCE = """
TEX r1 = LOOKUP(i0, r0) unscaled
ALU r1.r = ADD(r1.r, r1.r)
OUT o0 = MOV(r1)
"""


@kernel
def halved_beyond(pixel: vec2, limit: float) -> float:
    value = pixel.x + pixel.y
    if value > limit:
        value = value / 2
    else:
        value = value * 1
    return value


def doubling() -> tuple[Device, CommandBuffer, Image, Image]:
    """A device with a program that doubles the red of an image: its commands, and both images."""
    device = Device(config=TINY)
    layout = Layout(width=SIDE, height=SIDE, format=DataFormat.FLOAT32_4)
    values = np.arange(4 * SIDE * SIDE, dtype=np.float32).reshape(SIDE, SIDE, 4)
    source, target = device.image(layout, values), device.image(layout)
    commands = CommandBuffer().set_inst_fmt(device.place(assemble(SOURCE, name="double.s"))).inv_inst_cache()
    commands.set_inp_fmt(0, source.base, layout.format_word, SIDE).inv_inp_cache()
    commands.set_out_fmt(0, target.base, layout.format_word, SIDE)
    commands.set_constf_fmt(device.allocate(4096)).set_consti_fmt(device.allocate(4096))
    commands.set_constb_fmt(device.allocate(4096)).set_out_mask().set_domain(0, 0, SIDE - 1, SIDE - 1)
    return device, commands.start_program().flush_out_cache().wait_for_idle(), source, target


@pytest.mark.parametrize("has_run", [False, True])
def test_a_command_buffer_is_debugged_and_the_device_does_not_change(has_run: bool) -> None:
    device, commands, source, target = doubling()
    expected = np.concatenate([2 * source.read()[..., :1], source.read()[..., 1:]], axis=-1)
    if has_run:
        device.run(commands)
        target.write(np.zeros_like(target.read()))
    with device.debug(commands) as session:
        commands.start_program()
        assert isinstance(session, Debugger) and str(session.line) == "double.s:2"
        session.stop_at("4 if i == 5 and j == 6", once=True)
        assert session.go_on().reason == "breakpoint"
        assert session.value("r1.r").numbers[0, session.lane] == expected[6, 5, 0]
        assert session.why("o0[5,6].r").lines == [("double.s", 2), ("double.s", 3), ("double.s", 4)]
        assert np.array_equal(session.image("i0"), source.read())
        session.step()
        assert session.image("o0")[6, 5].tolist() == expected[6, 5].tolist()
        assert session.go_on().reason == "finished" and session.result is not None
        with pytest.raises(DebugError, match="the job has ended"):
            session.image("o0")
        session.go_to(Position(0, 1, 2))
        assert session.position == Position(0, 1, 2)
    assert not target.read().any()
    device.run(commands)
    assert np.array_equal(target.read(), expected)


def test_kernels_are_debugged_by_a_function_of_a_device() -> None:
    device = Device(config=PRESETS["r700"])
    results = []

    def calls(own: Device) -> None:
        results.append(halved_beyond[SIDE, SIDE](4.5, device=own))
        results.append(halved_beyond[SIDE, SIDE](99.0, device=own))

    first = next(number for number, row in enumerate(open(__file__), start=1) if "value = value / 2" in row)
    with device.debug(calls) as session:
        with pytest.raises(DebugError, match="there is no label else$"):
            session.stop_at("else")
        session.stop_at(f"{first} if i == 3 and j == 2")
        assert session.go_on().reason == "breakpoint" and session.position.launch == 0
        assert ("test_python.py", first) in [(file.split("/")[-1], line) for file, line in session.why("o0[3,2]").lines]
        session.stops.clear()
        assert session.go_on().reason == "finished"
        sums = np.add.outer(np.arange(SIDE), np.arange(SIDE)).astype(np.float32)
        assert np.array_equal(results[0], np.where(sums > 4.5, sums / 2, sums)) and np.array_equal(results[1], sums)


def test_a_session_survives_exceptions_of_its_user() -> None:
    device, commands, *_ = doubling()

    def calls(own: Device) -> None:
        own.run(commands)
        raise KeyError("mine")

    session = device.debug(calls)
    session.step(2)
    for _ in range(2):
        with pytest.raises(KeyError, match="mine"):
            session.go_on()
        assert session.position == Position(0, 0, 2)
    session.stop_at("4 if i == 7")
    assert session.go_on().reason == "breakpoint"
    position = session.position
    with pytest.raises(ZeroDivisionError):
        print(session.value("r1.r").numbers[0, session.lane] / 1, 1 // 0)
    with pytest.raises(DebugError, match="the program has r0 to r1"):
        session.value("r12")
    assert session.position == position and session.step().reason == "end"
    session.close()


def test_an_interrupt_leaves_a_verb_where_it_began(monkeypatch: pytest.MonkeyPatch) -> None:
    device, commands, *_ = doubling()
    with device.debug(commands) as session:
        session.step()
        here, before = session.position, session.wavefront.batch.copy()
        session.lane = 1
        cancellation = session.cancellation
        count = 0

        def executed(pc: int, selected: object) -> None:
            nonlocal count
            count += 1
            if count == 4:
                raise KeyboardInterrupt

        monkeypatch.setattr(cancellation, "executed", executed)
        with pytest.raises(KeyboardInterrupt):
            session.go_on()
        assert session.position == here and session.lane == 1
        assert session.wavefront.batch.is_in_state_of(before)
        assert session.go_on().reason == "finished"


def test_outputs_that_overlap_are_as_if_later_wavefronts_had_not_run() -> None:
    """At a breakpoint in the last wavefront, with which all others ran together."""
    device = Device(config=TINY)
    width = 4 * SIDE
    layout = Layout(width=width, height=width + SIDE, format=DataFormat.FLOAT32_4)
    target = device.image(layout)
    source = "ALU r1 = ADD(r0, r0)\nOUT o0 = MOV(r0)\nOUT o1 = MOV(r1)\n"
    commands = CommandBuffer().set_inst_fmt(device.place(assemble(source))).inv_inst_cache().set_out_mask()
    for number in range(2):
        base = target.base + (1 - number) * 2048
        commands.set_out_fmt(number, base, layout.format_word, width)
    for name in ("constf", "consti", "constb"):
        getattr(commands, f"set_{name}_fmt")(device.allocate(4096))
    commands.set_domain(0, 0, width - 1, width - 1).start_program()
    images = []
    for goes in (False, True):
        with device.debug(commands) as session:
            last = Position(0, len(session.started.order) - 1, 0)
            if goes:
                session.go_to(last)
            else:
                session.stop_at(f"*0 if i == {width - 1} and j == {width - 1}")
                assert session.go_on().reason == "breakpoint" and session.position == last
            images.append(session.started.launch.memory.read(target.base, layout.size))
    assert images[0] == images[1]


def test_what_fails_fails_again_and_can_be_looked_back_from() -> None:
    """The second program is none; the first one can be looked at still."""
    device, commands, *_ = doubling()
    commands.set_inst_fmt(device.allocate(4096)).inv_inst_cache().start_program()
    with device.debug(commands) as session:
        for _ in range(2):
            with pytest.raises(MachineError, match="BAD_EXECUTABLE"):
                session.go_on()
        session.go_to(Position(0, 0, 1))
        assert session.step().reason == "step"


def test_two_programs_over_one_input_diverge_at_an_instruction() -> None:
    device, commands, *_ = doubling()
    other = device.place(assemble(SOURCE.replace("ADD(r1.r, r1.r)", "MUL(r1.r, r1.r)")))
    changed = CommandBuffer()
    changed.words = list(commands.words)
    changed.words[1] = other
    with device.debug(commands) as one, device.debug(changed) as two:
        one.select(3, 0)
        difference = one.diff(two)
        assert difference is not None and one.position.step == two.position.step == 2
        assert difference.units == (1, 1) and difference.rows[0][0].startswith("r1.r")


def test_what_is_out_of_range_is_said_and_changes_nothing() -> None:
    device, commands, *_ = doubling()
    with device.debug(commands) as session:
        session.step()
        here = session.position
        for call, error in (
            (lambda: setattr(session, "lane", 4), "lanes 0 to 3"),
            (lambda: setattr(session, "lane", -1), "lanes 0 to 3"),
            (lambda: session.go_to(Position(0, 0, -1)), r"count from 0: \(0, 0, -1\)"),
            (lambda: session.go_to(Position(-1, 0, 0)), "count from 0"),
            (lambda: session.go_to(Position(1, 0, 0)), "the job has no launch 1"),
            (lambda: session.diff(session), "not with itself"),
            (lambda: setattr(session, "lane", 1.5), "lanes 0 to 3, not 1.5"),
            (lambda: session.set("r0", "x", 0, lanes=[4]), "lanes 0 to 3, not 4"),
            (lambda: session.set("r0", "x", 1 << 32), "4294967296 has more than 32 bits"),
            (lambda: session.set("r0", "x", 1.5), "a word of 32 bits is wanted, not 1.5"),
            (lambda: session.set("r99", "x", 0), "there is no register r99"),
            (lambda: session.store("o0[0,0]", 1 << 32, "x"), "4294967296 has more than 32 bits"),
            (lambda: session.store("*0x1000", 1.5), "a word of 32 bits is wanted, not 1.5"),
            (lambda: session.stop_at(" "), "a location is missing"),
            (lambda: session.store("r1", 1), "'r1' is not in memory"),
            (lambda: session.remove_stop(1), "there is no breakpoint 1"),
        ):
            with pytest.raises(DebugError, match=error):
                call()
            assert session.position == here and session.lane == 0
        assert not session.stops
        session.set("r0", "x", -1)
        assert session.value("int(r0.x)").numbers[0, 0] == -1
        session.back(-1)
        assert session.position == here


def test_what_runs_nothing_is_said() -> None:
    device = Device(config=TINY)
    with pytest.raises(DebugError, match="no program runs"):
        device.debug(CommandBuffer().wait_for_idle())
    with pytest.raises(TypeError, match="calls must be a CommandBuffer, not 3"):
        device.debug(3)  # type: ignore[arg-type]
    with pytest.raises(DebugError, match="did you mean rtl"):
        device.debug(CommandBuffer(), engine="rtll")


@pytest.mark.long
def test_it_is_on_the_hardware_too() -> None:
    def calls(own: Device) -> None:
        halved_beyond[SIDE, SIDE](4.5, device=own)

    with Device(config=PRESETS["r700"]).debug(calls, engine="rtl") as session:
        cycles = []
        while session.step().reason == "step":
            cycles.append(session.wavefront.cycle)
        assert cycles == sorted(cycles) and cycles[-1]
        session.back(1)
        assert session.diff() is None
