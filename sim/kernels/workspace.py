"""Memory of a device that calls of kernels use again and again: its heap takes nothing back."""

from weakref import WeakKeyDictionary

import numpy as np

from ctm.rtl.isa.conditional import ConditionalTest
from ctm.rtl.isa.limits import BOOL_CONSTANTS, CHANNELS, FLOAT_CONSTANTS, INT_CONSTANTS, WORD_BYTES
from ctm.sim.compiler.python import Picture, Signature, Type
from ctm.sim.compiler.targets import TARGETS
from ctm.sim.elf import Executable
from ctm.sim.kernels.arguments import FLOATS, KINDS, Arguments, Array
from ctm.sim.runtime import CommandBuffer, Device, Image, Layout

Results = Array | tuple[Array, ...]
_MOST_WORDS = 1024
"""Of a command buffer."""
_TABLES = (CHANNELS * FLOAT_CONSTANTS, INT_CONSTANTS, BOOL_CONSTANTS)


class Workspace:
    """Addresses in a device's memory: of programs, tables, commands, and of images by their use."""

    def __init__(self, device: Device) -> None:
        self._programs: dict[int, tuple[Executable, int]] = {}
        self._images: dict[str, tuple[int, int]] = {}
        self._tables = [device.allocate(WORD_BYTES * words) for words in _TABLES]
        self._commands = device.allocate(WORD_BYTES * _MOST_WORDS)

    def run(
        self, device: Device, program: Executable, signature: Signature, given: Arguments, size: tuple[int, int]
    ) -> Results:
        """Run a program with its arguments over a domain of a width and a height; what it gives.

        Raises
        ------
        MachineError
            It failed.
        ValueError
            An image cannot be looked up by coordinates from 0 to 1.
        """
        width, height = size
        commands = CommandBuffer().set_inst_fmt(self._program(device, program)).inv_inst_cache()
        for number, (data_format, array) in given.images.items():
            layout = Layout(width=array.shape[1], height=array.shape[0], format=data_format)
            if number in program.scaled_inputs and layout.is_padded:
                pictures = [name for name, kind in signature.parameters.items() if isinstance(kind, Picture)]
                raise ValueError(
                    f"'{pictures[number]}' is read by texture(), which needs a width that is a legal pitch: "
                    f"{layout.width} is not, the next one is {layout.pitch}"
                )
            image = self._image(device, f"input {number}", layout)
            image.write(array)
            commands.set_inp_fmt(number, image.base, layout.format_word, layout.height)
        outputs = []
        for number, kind in enumerate(signature.results):
            channels = min(each for each in FLOATS if each >= kind.size)
            image = self._image(device, f"output {number}", Layout(width=width, height=height, format=FLOATS[channels]))
            # Pixels that are discarded write nothing.
            image.write(np.zeros((height, width, channels), np.float32))
            outputs.append(image)
            commands.set_out_fmt(number, image.base, image.layout.format_word, height)
        for address, table in zip(self._tables, given.tables, strict=True):
            device.memory.write(address, table.tobytes())
        floats, ints, bools = self._tables
        commands.set_constf_fmt(floats).set_consti_fmt(ints).set_constb_fmt(bools)
        commands.inv_inp_cache().inv_constf_cache().inv_consti_cache().inv_constb_cache()
        # Whatever else runs on the device may have set these.
        commands.set_out_mask().set_cond_test(ConditionalTest.ALWAYS).set_cond_out_mask(enable=False)
        commands.set_domain(0, 0, width - 1, height - 1).start_program()
        device.submit(commands.flush_out_cache().wait_for_idle(), self._commands)
        device.wait()
        are_floats = TARGETS[program.kind].whole_floats
        found = tuple(
            result_of(image.read(), kind, are_floats=are_floats)
            for image, kind in zip(outputs, signature.results, strict=True)
        )
        return found if signature.is_tuple else found[0]

    def _program(self, device: Device, program: Executable) -> int:
        """Address of a program, which is placed once."""
        if id(program) not in self._programs:
            # It is kept, so that no other program can have its number.
            self._programs[id(program)] = program, device.place(program)
        return self._programs[id(program)][1]

    def _image(self, device: Device, use: str, layout: Layout) -> Image:
        """An image at the address of the last one of its use; if that is too small, at a new one of twice the size."""
        base, size = self._images.get(use, (0, 0))
        if size < layout.size:
            size = max(layout.size, 2 * size)
            base = device.allocate(size)
            self._images[use] = base, size
        return Image(memory=device.memory, base=base, layout=layout)


def workspace(device: Device) -> Workspace:
    """The workspace of a device."""
    if device not in _WORKSPACES:
        _WORKSPACES[device] = Workspace(device)
    return _WORKSPACES[device]


_WORKSPACES: WeakKeyDictionary[Device, Workspace] = WeakKeyDictionary()


def result_of(array: Array, kind: Type, *, are_floats: bool) -> Array:
    """What an output holds, as the kernel's type: without the last axis if that is no vector."""
    found = array[:, :, : kind.size]
    wanted = KINDS[kind.scalar]
    if kind.is_whole:
        # A number without a sign that wrapped below 0 is a negative float.
        # An int that is undefined, as after a division by zero, may be a float that is none.
        with np.errstate(invalid="ignore"):
            whole = np.rint(found).astype(np.int64) if are_floats else np.ascontiguousarray(found).view(np.int32)
        found = whole.astype(wanted)
    return found if kind.is_vector else found[:, :, 0]
