"""Status codes of the machine: what STATUS reports, and what an engine's result names in lower case."""

from amaranth.lib import enum


class Status(enum.Enum, shape=4):
    """Why the machine stopped a command buffer, or OK."""

    OK = 0
    BAD_COMMAND = 1
    BAD_PARAMETER = 2
    TRUNCATED = 3
    BUS_ERROR = 4
    BAD_EXECUTABLE = 5
    BAD_CONDITIONAL_FORMAT = 6
    BAD_UMRT_FORMAT = 7
    ILLEGAL_INSTRUCTION = 8
    STACK = 9
    PC_RANGE = 10
    WATCHDOG = 11
    HAZARD = 12
    QUEUE_FULL = 13
    RESET = 14
    BAD_DRAW = 15


class BusClient(enum.Enum, shape=4):
    """The unit that made the memory access of a BUS_ERROR."""

    COMMAND = 0
    INSTRUCTION = 1
    FLOAT_CONSTANT = 2
    INT_CONSTANT = 3
    BOOL_CONSTANT = 4
    INPUT = 5
    OUTPUT = 6
    CONDITIONAL_OUTPUT = 7
    COUNTERS = 8


STATUS_TEXT = {
    Status.OK: "no error",
    Status.BAD_COMMAND: "a word of the command buffer is no command",
    Status.BAD_PARAMETER: "a parameter has a value that is not allowed",
    Status.TRUNCATED: "the command buffer ends inside a command",
    Status.BUS_ERROR: "a memory access had an error response",
    Status.BAD_EXECUTABLE: "the program is no well-formed DPP executable",
    Status.BAD_CONDITIONAL_FORMAT: "the conditional buffer is neither FLOAT32_1 nor UINT16_1",
    Status.BAD_UMRT_FORMAT: "output 0 of an uncached-write program is not FLOAT32_1",
    Status.ILLEGAL_INSTRUCTION: "an instruction has an illegal code or combination",
    Status.STACK: "a flow-control stack overflowed or underflowed",
    Status.PC_RANGE: "the program counter is outside the code",
    Status.WATCHDOG: "a wavefront executed more instructions than the watchdog allows",
    Status.HAZARD: "a value was read before it was delivered",
    Status.QUEUE_FULL: "a command buffer was pushed into a full queue",
    Status.RESET: "the machine was reset while it worked",
    Status.BAD_DRAW: "a draw has a state that this machine does not implement",
}
