/* Registers of the CTM machine, 32 bits each, on its AXI4-Lite port. Generated; do not edit. */
#ifndef CTM_H
#define CTM_H

#define CTM_REGISTER_SPACE 0x1000
#define CTM_IDENTITY 0x43544d31u
#define CTM_MAP_VERSION 1
#define CTM_QUEUE_ENTRIES 8

/* ro: identity of the machine, 'CTM1' */
#define CTM_ID 0x000

/* ro: version of the register map */
#define CTM_VERSION 0x004

/* ro: the configuration that was built */
#define CTM_CONFIG 0x008
#define CTM_CONFIG_CORES_SHIFT 0
#define CTM_CONFIG_CORES_MASK 0x000000ffu
#define CTM_CONFIG_LANES_SHIFT 8
#define CTM_CONFIG_LANES_MASK 0x0000ff00u
#define CTM_CONFIG_THREADS_SHIFT 16
#define CTM_CONFIG_THREADS_MASK 0x00ff0000u
#define CTM_CONFIG_QUEUE_DEPTH_SHIFT 24
#define CTM_CONFIG_QUEUE_DEPTH_MASK 0xff000000u

/* rw: soft reset, interrupt enable, clear error; reset and clear_error read 0 */
#define CTM_CONTROL 0x010
#define CTM_CONTROL_RESET_SHIFT 0
#define CTM_CONTROL_RESET_MASK 0x00000001u
#define CTM_CONTROL_INTERRUPT_ENABLE_SHIFT 1
#define CTM_CONTROL_INTERRUPT_ENABLE_MASK 0x00000002u
#define CTM_CONTROL_CLEAR_ERROR_SHIFT 2
#define CTM_CONTROL_CLEAR_ERROR_MASK 0x00000004u

/* ro: idle, error pending, queue full, a push was rejected since the last clear_error, and the error's code */
#define CTM_STATUS 0x014
#define CTM_STATUS_IDLE_SHIFT 0
#define CTM_STATUS_IDLE_MASK 0x00000001u
#define CTM_STATUS_ERROR_SHIFT 1
#define CTM_STATUS_ERROR_MASK 0x00000002u
#define CTM_STATUS_QUEUE_FULL_SHIFT 2
#define CTM_STATUS_QUEUE_FULL_MASK 0x00000004u
#define CTM_STATUS_PUSH_REFUSED_SHIFT 3
#define CTM_STATUS_PUSH_REFUSED_MASK 0x00000008u
#define CTM_STATUS_CODE_SHIFT 8
#define CTM_STATUS_CODE_MASK 0x00000f00u

/* w1c: a buffer was consumed; an error was raised */
#define CTM_INTERRUPT 0x018
#define CTM_INTERRUPT_CONSUMED_SHIFT 0
#define CTM_INTERRUPT_CONSUMED_MASK 0x00000001u
#define CTM_INTERRUPT_ERROR_SHIFT 1
#define CTM_INTERRUPT_ERROR_MASK 0x00000002u

/* rw: byte address of a command buffer */
#define CTM_QUEUE_ADDRESS 0x020

/* rw: its size in 32-bit words */
#define CTM_QUEUE_DWORDS 0x024

/* wo: a write pushes the buffer */
#define CTM_QUEUE_PUSH 0x028

/* ro: id of the newest buffer, 0 at first */
#define CTM_LAST_SUBMITTED 0x02c

/* ro: id of the newest consumed buffer */
#define CTM_LAST_CONSUMED 0x030

/* ro: address of the word or access */
#define CTM_ERROR_ADDRESS 0x040

/* ro: the word itself */
#define CTM_ERROR_WORD 0x044

/* ro: client of a bus error */
#define CTM_ERROR_CLIENT 0x048
#define CTM_ERROR_CLIENT_CLIENT_SHIFT 0
#define CTM_ERROR_CLIENT_CLIENT_MASK 0x0000000fu

/* ro: PC of a program's fault */
#define CTM_FAULT_PC 0x04c

/* ro: (i, j) of the wavefront's lane 0 */
#define CTM_FAULT_IJ 0x050
#define CTM_FAULT_IJ_I_SHIFT 0
#define CTM_FAULT_IJ_I_MASK 0x0000ffffu
#define CTM_FAULT_IJ_J_SHIFT 16
#define CTM_FAULT_IJ_J_MASK 0xffff0000u

/* rw: instructions that a wavefront may execute, 0 = any number */
#define CTM_WATCHDOG 0x054

/* Counters, ro: 32 bits, they wrap; a reset makes them 0. */
#define CTM_COUNTER_BUSY 0x100 /* cycles in which a command buffer is executed */
#define CTM_COUNTER_ACTIVE 0x104 /* cycles in which a wavefront is resident in the array */
#define CTM_COUNTER_GROUPS 0x108 /* wavefronts dispatched to the array */
#define CTM_COUNTER_PROCESSORS 0x10c /* pixels of domains that were dispatched or failed their test */
#define CTM_COUNTER_ISSUED_ALU 0x110 /* ALU and OUTPUT instructions issued, one for each wavefront */
#define CTM_COUNTER_ISSUED_TEX 0x114 /* texture instructions issued */
#define CTM_COUNTER_ISSUED_FC 0x118 /* flow-control instructions issued */
#define CTM_COUNTER_LANES_ALU 0x11c /* lanes that are active before each ALU and OUTPUT instruction, covered or not */
#define CTM_COUNTER_LANES_TEX 0x120 /* the same of texture instructions */
#define CTM_COUNTER_LANES_FC 0x124 /* the same of flow-control instructions */
#define CTM_COUNTER_INPUT_HITS 0x128 /* accesses that hit the first level of the input cache */
#define CTM_COUNTER_INPUT_MISSES 0x12c /* accesses that missed it */
#define CTM_COUNTER_SHARED_HITS 0x130 /* lines that hit the second level */
#define CTM_COUNTER_SHARED_MISSES 0x134 /* lines that missed it */
#define CTM_COUNTER_CONDITIONAL_HITS 0x138 /* tests that hit the conditional buffer's cache */
#define CTM_COUNTER_CONDITIONAL_MISSES 0x13c /* tests that missed it */
#define CTM_COUNTER_OUTPUT_LINES 0x140 /* lines evicted from the output cache */
#define CTM_COUNTER_LOCAL_READ_BEATS 0x144 /* beats read from the local memory ports */
#define CTM_COUNTER_LOCAL_WRITE_BEATS 0x148 /* beats written to the local memory ports */
#define CTM_COUNTER_SYSTEM_READ_BEATS 0x14c /* beats read from the system memory port */
#define CTM_COUNTER_SYSTEM_WRITE_BEATS 0x150 /* beats written to the system memory port */
#define CTM_COUNTER_STALL_LOOKUPS 0x154 /* cycles in which a core with wavefronts issues no ALU instruction: one waits for its fetches */
#define CTM_COUNTER_STALL_LOADING 0x158 /* the same: one waits for instructions or constants */
#define CTM_COUNTER_STALL_REQUESTS 0x15c /* the same: one waits for space towards memory */
#define CTM_COUNTER_STALL_LATENCY 0x160 /* the same: all wait for their last instruction, or issue others */
#define CTM_COUNTER_STALL_ENDS 0x164 /* the same: wavefronts only start or end */
/* Counters of draws, of hardware that draws; elsewhere they read 0. */
#define CTM_COUNTER_DRAW_VERTICES 0x200 /* vertices for which the vertex program was run */
#define CTM_COUNTER_DRAW_EMITTED 0x204 /* emitted vertices for which the copy program was run */
#define CTM_COUNTER_DRAW_PRIMITIVES 0x208 /* primitives that were drawn: taken by the clipper */
#define CTM_COUNTER_DRAW_DROPPED 0x20c /* primitives that the clipper dropped, because nothing of them can be seen */
#define CTM_COUNTER_DRAW_CLIPPED 0x210 /* triangles that a plane cut */
#define CTM_COUNTER_DRAW_PIECES 0x214 /* points, and triangles after clipping, that set-up takes */
#define CTM_COUNTER_DRAW_CULLED 0x218 /* those that set-up dropped: culled, without an area, or outside of the domain */
#define CTM_COUNTER_DRAW_STRIPS 0x21c /* wavefronts of pixels */
#define CTM_COUNTER_DRAW_QUADS 0x220 /* quads of these with a covered pixel */
#define CTM_COUNTER_DRAW_PIXELS 0x224 /* pixels that were covered */
#define CTM_COUNTER_DRAW_CLOCKS_VERTICES 0x228 /* cycles of draws before pixels: vertices are assembled, and their programs run */
#define CTM_COUNTER_DRAW_CLOCKS_PIXELS 0x22c /* cycles of draws in which primitives become pixels */
#define CTM_COUNTER_DRAW_WAIT_ORDER 0x230 /* cycles of these in which a strip waits for an earlier one with a pixel of its own */
#define CTM_COUNTER_DRAW_WAIT_RASTER 0x234 /* cycles of these without a strip: clipper, set-up and strip walker work */

/* STATUS_CODE */
#define CTM_CODE_OK 0 /* no error */
#define CTM_CODE_BAD_COMMAND 1 /* a word of the command buffer is no command */
#define CTM_CODE_BAD_PARAMETER 2 /* a parameter has a value that is not allowed */
#define CTM_CODE_TRUNCATED 3 /* the command buffer ends inside a command */
#define CTM_CODE_BUS_ERROR 4 /* a memory access had an error response */
#define CTM_CODE_BAD_EXECUTABLE 5 /* the program is no well-formed DPP executable */
#define CTM_CODE_BAD_CONDITIONAL_FORMAT 6 /* the conditional buffer is neither FLOAT32_1 nor UINT16_1 */
#define CTM_CODE_BAD_UMRT_FORMAT 7 /* output 0 of an uncached-write program is not FLOAT32_1 */
#define CTM_CODE_ILLEGAL_INSTRUCTION 8 /* an instruction has an illegal code or combination */
#define CTM_CODE_STACK 9 /* a flow-control stack overflowed or underflowed */
#define CTM_CODE_PC_RANGE 10 /* the program counter is outside the code */
#define CTM_CODE_WATCHDOG 11 /* a wavefront executed more instructions than the watchdog allows */
#define CTM_CODE_HAZARD 12 /* a value was read before it was delivered */
#define CTM_CODE_QUEUE_FULL 13 /* a command buffer was pushed into a full queue */
#define CTM_CODE_RESET 14 /* the machine was reset while it worked */
#define CTM_CODE_BAD_DRAW 15 /* a draw has a state that this machine does not implement */

/* ERROR_CLIENT_CLIENT */
#define CTM_CLIENT_COMMAND 0
#define CTM_CLIENT_INSTRUCTION 1
#define CTM_CLIENT_FLOAT_CONSTANT 2
#define CTM_CLIENT_INT_CONSTANT 3
#define CTM_CLIENT_BOOL_CONSTANT 4
#define CTM_CLIENT_INPUT 5
#define CTM_CLIENT_OUTPUT 6
#define CTM_CLIENT_CONDITIONAL_OUTPUT 7
#define CTM_CLIENT_COUNTERS 8

#endif
