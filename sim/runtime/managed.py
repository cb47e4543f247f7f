"""The manual's device interface: four functions by name and meaning.

Source: CTM Guide pp. 51-52. A device's name chooses the engine; a handle is the `Device` itself.
"""

from dataclasses import dataclass

from ctm.rtl.isa.limits import ADDRESS_SPACE, SYSTEM_MEMORY
from ctm.sim.fault import MachineError
from ctm.sim.runtime.device import Device


@dataclass(kw_only=True)
class ManagedDeviceInfo:
    """AMmanagedDeviceInfo: where the memories of the device are, in bytes."""

    baseAddressGPU: int = 0  # noqa: N815 - the manual's names
    arenaSizeGPU: int = 0  # noqa: N815
    baseAddressSYS: int = 0  # noqa: N815
    arenaSizeSYS: int = 0  # noqa: N815


def amOpenManagedConnection(name: str, info: ManagedDeviceInfo | None = None) -> Device | None:  # noqa: N802
    """Open the device whose engine is called `name` and fill `info`; None where there is none."""
    try:
        device = Device(name)
    except ValueError:
        return None
    if info is not None:
        info.baseAddressGPU, info.arenaSizeGPU = 0, SYSTEM_MEMORY
        info.baseAddressSYS, info.arenaSizeSYS = SYSTEM_MEMORY, ADDRESS_SPACE - SYSTEM_MEMORY
    return device


def amCloseManagedConnection(device: Device) -> None:  # noqa: N802
    """Finish what was submitted and close the device."""
    device.wait()


def amSubmitCommandBuffer(device: Device, address: int, dwords: int) -> int:  # noqa: N802
    """Submit the command buffer of `dwords` words at `address`; its id, or 0 where it is rejected."""
    try:
        return device.submit_at(address, dwords)
    except (MachineError, ValueError):
        return 0


def amCommandBufferConsumed(device: Device, buffer: int) -> int:  # noqa: N802
    """1 where the buffer with this id has been consumed, else 0.

    Raises
    ------
    MachineError
        A buffer was dropped, as the device's STATUS would say.
    """
    if buffer > device.last_consumed:
        device.wait()
    return int(0 < buffer <= device.last_consumed)
