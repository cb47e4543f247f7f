"""Values of a wrong type are errors where they are given, and the message says what to write."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ctm.rtl.isa.formats import DataFormat
from ctm.sim import runtime
from ctm.sim.runtime import CommandBuffer, Device

# What they are given here has wrong types on purpose.
Layout: Any = runtime.Layout
wrong_device: Any = Device
device: Any = Device()
wrong_commands: Any = CommandBuffer


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda: Layout(width=4, height=4, format="UINT8_4"),
         "format must be a DataFormat, not 'UINT8_4'; write DataFormat.UINT8_4"),
        (lambda: Layout(width=4, height=4, format="RGBA"),
         "format must be a DataFormat, not 'RGBA'; there are .*FLOAT32_4"),
        (lambda: Layout(width=4, height=4, format=np.uint8), "format must be a DataFormat, not <class 'numpy.uint8'>"),
        (lambda: Layout(width=4, height=4, format=DataFormat.UINT8_4, tiling="TILED"), "write Tiling.TILED"),
        (lambda: Layout(width=4.0, height=4, format=DataFormat.UINT8_4), "width must be a whole number, not 4.0"),
        (lambda: Layout(width=4, height="4", format=DataFormat.UINT8_4), "height must be a whole number, not '4'"),
        (lambda: wrong_device("golden", "wide"), "config must be a MachineConfig, not 'wide'"),
        (lambda: wrong_device().image(DataFormat.UINT8_4), "layout must be a Layout, not <DataFormat.UINT8_4"),
        (lambda: device.place("OUT"), "data must be bytes or an executable, not a str; assemble makes"),
        (lambda: device.place(None), "data must be bytes or an executable, not a NoneType$"),
        (lambda: wrong_device().allocate(1.5), "size must be a whole number, not 1.5"),
        (lambda: wrong_device().run([1, 2]), r"commands must be a CommandBuffer, not \[1, 2\]"),
        (lambda: wrong_commands().set_cond_test("LESS"), "write ConditionalTest.LESS"),
        (lambda: wrong_commands().set_cond_loc("PE"), "write ConditionalLocation.PE"),
        (lambda: wrong_commands().set_domain(0, 0, 63.0, 63), "set_domain: i1 must be a whole number, not 63.0"),
    ],
)  # fmt: skip
def test_a_wrong_type_is_an_error(action: Callable[[], object], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        action()


def test_whole_numbers_of_numpy_are_whole_numbers() -> None:
    layout = Layout(width=np.int64(4), height=np.uint16(2), format=DataFormat.UINT8_4)
    assert layout.size == Layout(width=4, height=2, format=DataFormat.UINT8_4).size
    assert CommandBuffer().set_domain(*np.arange(4)).words == CommandBuffer().set_domain(0, 1, 2, 3).words
