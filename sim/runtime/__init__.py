"""Runtime: a device with memory, images, command buffers and errors that say what STATUS says."""

from sim.fault import MachineError
from sim.runtime.commands import CommandBuffer
from sim.runtime.device import Device
from sim.runtime.image import Image
from sim.runtime.layout import Layout
from sim.runtime.managed import (
    ManagedDeviceInfo,
    amCloseManagedConnection,
    amCommandBufferConsumed,
    amOpenManagedConnection,
    amSubmitCommandBuffer,
)

__all__ = [
    "CommandBuffer",
    "Device",
    "Image",
    "Layout",
    "MachineError",
    "ManagedDeviceInfo",
    "amCloseManagedConnection",
    "amCommandBufferConsumed",
    "amOpenManagedConnection",
    "amSubmitCommandBuffer",
]
