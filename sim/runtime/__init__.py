"""Runtime: a device with memory, images, command buffers and errors that say what STATUS says."""

from ctm.sim.fault import MachineError
from ctm.sim.runtime.commands import CommandBuffer
from ctm.sim.runtime.device import Device
from ctm.sim.runtime.image import Image
from ctm.sim.runtime.layout import Layout
from ctm.sim.runtime.managed import (
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
