"""The local data share, with results worked out by hand."""

import numpy as np
import pytest

from ctm.rtl.isa.r700.program import ProgramType
from ctm.tb.r700.assembly import Assembly
from ctm.tb.r700.examples import execute, moves, same
from ctm.tb.r700.machine import Input, Job, run
from ctm.tb.r700.words import Unit, group, share_read, share_write, slot, tex

_CS = {"type": ProgramType.CS}
_NONE, _WORD = 0, 2


def begin() -> Assembly:
    """Pixel t of the wavefront has 16 t + (1, 2, 3, 4) in R1, and that plus 1000 in R2."""
    a = Assembly()
    a.alu(
        group(slot("LSHL_INT", "_.x", "R0.w", "#4")),
        group(*(slot("ADD_INT", f"R1.{c}", "PV.x", f"#{n + 1:x}") for n, c in enumerate("xyzw"))),
        group(*(slot("ADD_INT", f"R2.{c}", f"R1.{c}", "#3e8") for c in "xyzw")),
    )
    return a


def values(t: int) -> list[int]:
    """What pixel t wrote from R1."""
    return [16 * t + n for n in (1, 2, 3, 4)]


def loaded(a: Assembly, bank: str, dword: str, *, lds: int = 64, targets: int = 1, **fields) -> np.ndarray:
    """What the pixels of a wavefront of 16, the eight columns of two rows, read: [targets, 16, 4] in lane order."""
    a.alu(moves(4, bank, dword))
    a.fetch(share_read(5, 4, **fields))
    registers = tuple(range(5, 5 + targets))
    found = execute(a, registers, domain=(0, 0, 7, 1), wavefront=16, information={**_CS, "lds_dwords": lds})
    lanes = [(2 * quad + lane % 2, lane // 2) for quad in range(4) for lane in range(4)]
    return np.stack([found.outputs[:, j, i] for i, j in lanes], axis=1)


@pytest.mark.parametrize(
    ("stride", "index", "t", "row"),
    [(4, 0, 0, 0), (4, 0, 7, 4), (4, 0, 15, 12), (8, 4, 6, 12), (12, 8, 13, 44), (0, 0, 15, 0), (0, 12, 14, 12)],
)
def test_every_pixel_writes_its_own_address(stride: int, index: int, t: int, row: int) -> None:
    """Pixel t is in bank t & 3 from t / 4 * stride + index on; with a stride of 0 the last pixel of a bank is kept."""
    a = begin()
    a.fetch(share_write(1, dst_stride=stride, dst_index=index))
    found = loaded(a, f"#{t & 3:x}", f"#{row:x}")
    same(found[0], [values(t)] * 16)


def test_extended_fields() -> None:
    """An index of 128 + 4, and a stride of 128 + 4."""
    a = begin()
    a.fetch(share_write(1, dst_stride=4, dst_stride_ext=1, dst_index=4, dst_index_ext=2))
    same(loaded(a, "#2", f"#{2 * 132 + 132:x}", lds=1024)[0], [values(10)] * 16)


def test_rows_and_words() -> None:
    """Of an address that is no multiple of 4 the row around it is read, or that word in all components."""
    for offset in range(4):
        a = begin()
        a.fetch(share_write(1, dst_stride=4))
        same(loaded(a, "1i", f"#{4 + offset:x}", mux_cntl=_NONE)[0], [values(5)] * 16)
        a = begin()
        a.fetch(share_write(1, dst_stride=4))
        word = values(5)[offset]
        expected = [[word, 0, word, word]] * 16
        same(loaded(a, "1i", f"#{4 + offset:x}", mux_cntl=_WORD, dst_wr_y=0)[0], expected)


@pytest.mark.parametrize(("bank", "t"), [("#5", 5), ("#fffffffd", 5), ("#80000002", 6), ("-1i", 7)])
def test_the_bank_is_the_lowest_bits(bank: str, t: int) -> None:
    a = begin()
    a.fetch(share_write(1, dst_stride=4))
    same(loaded(a, bank, "#4")[0], [values(t)] * 16)


@pytest.mark.parametrize(("dword", "offset", "row"), [("0", 8, 2), ("#3", 5, 2), ("#fffffffc", 8, 1), ("#4", 0, 1)])
def test_the_offset_is_added(dword: str, offset: int, row: int) -> None:
    a = begin()
    a.fetch(share_write(1, dst_stride=4))
    same(loaded(a, "0", dword, rd_offset=offset)[0], [values(4 * row)] * 16)


def test_pixels_read_addresses_of_their_own() -> None:
    """Each that of its neighbour to the left in the wavefront, the first one that of the last."""
    a = begin()
    a.fetch(share_write(1, dst_stride=4))
    a.alu(
        group(slot("ADD_INT", "_.x", "R0.w", "#f")),
        group(slot("AND_INT", "R4.z", "PV.x", "#f")),
        group(slot("AND_INT", "R4.x", "R4.z", "#3"), slot("AND_INT", "R4.y", "R4.z", "#c")),
    )
    a.fetch(share_read(5, 4, waterfall=1))
    found = execute(a, (5,), domain=(0, 0, 7, 1), wavefront=16, information={**_CS, "lds_dwords": 16})
    for t in range(16):
        i, j = 2 * (t // 4) + t % 2, t // 2 % 2
        same(found.outputs[0, j, i], values((t + 15) % 16))


def test_bursts() -> None:
    """Of four registers: R1 to R4, of which the last two are 0; three of them are read again."""
    a = begin()
    a.fetch(share_write(1, dst_stride=16, burst_count=3))
    found = loaded(a, "1i", "#10", burst_count=2, targets=3)
    same(found, [[values(5)] * 16, [[1000 + n for n in values(5)]] * 16, [[0] * 4] * 16])


def test_words_in_a_burst_are_a_row_apart() -> None:
    a = begin()
    a.fetch(share_write(1, dst_stride=16, burst_count=1))
    found = loaded(a, "1i", "#11", burst_count=1, targets=2, mux_cntl=_WORD)
    same(found, [[[values(5)[1]] * 4] * 16, [[1000 + values(5)[1]] * 4] * 16])


def test_a_burst_reads_before_it_writes() -> None:
    """The address is in the register that is written first."""
    a = begin()
    a.fetch(share_write(1, dst_stride=8, burst_count=1))
    a.alu(moves(5, "#2", "#8"))
    a.fetch(share_read(5, 5, burst_count=1))
    found = execute(a, (5, 6), domain=(0, 0, 7, 1), wavefront=16, information={**_CS, "lds_dwords": 64})
    same(found.outputs[:, 0, 0], [values(6), [1000 + n for n in values(6)]])


def test_a_burst_waits_for_fetches_of_all_its_registers() -> None:
    """An earlier fetch of the clause, of the one element of an input, writes the second register."""
    a, element = begin(), [7.0, 8.0, 9.0, 10.0]
    a.fetch(tex("LD", 2, 0, 0, src_sel_x=4, src_sel_y=4), share_write(1, dst_stride=16, burst_count=1))
    a.alu(moves(4, "1i", "#14"))
    a.fetch(share_read(5, 4))
    inputs = {0: Input(values=np.array([[element]], np.float32))}
    found = execute(
        a, (5,), domain=(0, 0, 7, 1), wavefront=16, inputs=inputs, information={**_CS, "lds_dwords": 64}
    )  # fmt: skip
    same(found.outputs[0, 0, 0], element)


def test_a_burst_overwrites_in_its_order() -> None:
    """With a stride of 4 register k of pixel t is where register 0 of pixel t + 4 k is: the later register is kept."""
    for row, expected in ((0, values(1)), (1, [1000 + n for n in values(1)]), (4, [1000 + n for n in values(13)])):
        a = begin()
        a.fetch(share_write(1, dst_stride=4, burst_count=1))
        same(loaded(a, "1i", f"#{4 * row:x}")[0], [expected] * 16)


def test_selects_of_a_write() -> None:
    """W, 1.0, nothing, 0: an unwritten word is kept."""
    a = begin()
    a.fetch(
        share_write(2, dst_stride=4),
        share_write(1, dst_stride=4, src_sel_x=3, src_sel_y=5, src_sel_z=7, src_sel_w=4),
    )
    same(loaded(a, "0", "0")[0], [[4, 0x3F800000, 1003, 0]] * 16)


@pytest.mark.parametrize("lds", [0, 4, 8, 12])
def test_nothing_is_after_the_end(lds: int) -> None:
    for row in range(4):
        a = begin()
        a.fetch(share_write(1, dst_stride=4))
        same(loaded(a, "1i", f"#{4 * row:x}", lds=lds)[0], [values(4 * row + 1) if 4 * row < lds else [0] * 4] * 16)


@pytest.mark.parametrize("dword", [0x40, 0x400, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF])
def test_reads_out_of_bounds(dword: int) -> None:
    a = begin()
    a.fetch(share_write(1, dst_stride=4))
    same(loaded(a, "0", f"#{dword:x}")[0], [[0] * 4] * 16)


def test_it_is_zero_at_the_start_of_each_wavefront() -> None:
    a = Assembly()
    a.alu(moves(4, "0", "0"), group(slot("ADD_INT", "R1.x", "R0.z", "#7")))
    a.fetch(share_read(5, 4, dst_wr_y=0), share_write(1, dst_stride=4), share_read(6, 4))
    found = execute(a, (5, 6), domain=(0, 0, 7, 1), information={**_CS, "lds_dwords": 4})
    same(found.outputs[0], [[[0] * 4] * 8] * 2)
    # The address of lane 0, whose number is the column in this row.
    same(found.outputs[1, 0, :, 0], [7, 7, 9, 9, 11, 11, 13, 13])


def odd_lanes(a: Assembly) -> None:
    """Begin a branch of odd lanes but lane 1."""
    a.alu(
        group(slot("AND_INT", "_.x", "R0.w", "1i"), slot("SETGT_INT", "_.y", "R0.w", "1i")),
        group(slot("AND_INT", "_.x", "PV.x", "PV.y")),
        group(slot("PRED_SETNE_INT", "_.x", "PV.x", "0", updates_mask=True)),
        name="ALU_PUSH_BEFORE",
    )


def broadcast() -> list[Unit]:
    """A read of the address that the lowest active pixel names."""
    return share_read(5, 4, broadcast=1)


def test_a_broadcast_reads_the_address_of_the_lowest_active_pixel() -> None:
    """That is lane 3, whose own address is read; only odd lanes above it get it too."""
    a = begin()
    a.fetch(share_write(1, dst_stride=4))
    a.alu(group(slot("AND_INT", "R4.x", "R0.w", "#3"), slot("AND_INT", "R4.y", "R0.w", "#c")))
    odd_lanes(a)
    a.fetch(broadcast())
    a.flow("POP", pop=1)
    found = execute(a, (5,), domain=(0, 0, 7, 1), wavefront=16, information={**_CS, "lds_dwords": 16})
    for t in range(16):
        i, j = 2 * (t // 4) + t % 2, t // 2 % 2
        same(found.outputs[0, j, i], values(3) if t & 1 and t > 1 else [0] * 4)


def test_inactive_pixels_write_nothing() -> None:
    for t, expected in ((0, [0] * 4), (1, [0] * 4), (3, values(3)), (4, [0] * 4), (15, values(15))):
        a = begin()
        odd_lanes(a)
        a.fetch(share_write(1, dst_stride=4))
        a.flow("POP", pop=1)
        same(loaded(a, f"#{t & 3:x}", f"#{t & 12:x}")[0], [expected] * 16)


@pytest.mark.parametrize("wavefront", [4, 8, 16, 32, 64])
def test_registers_of_a_compute_program_at_its_start(wavefront: int) -> None:
    """(i, j, number in the domain, number in the wavefront), as integers."""
    a = Assembly()
    a.alu(group(*(slot("MOV", f"R1.{c}", f"R0.{c}") for c in "xyzw")))
    found = execute(a, domain=(3, 5, 22, 8), wavefront=wavefront, information=_CS)
    quads = wavefront // 4
    for j in range(5, 9):
        for i in range(3, 23):
            # A row of wavefronts begins with the quad of the domain's first column.
            lane = 4 * ((i // 2 - 1) % quads) + 2 * (j & 1) + (i & 1)
            number = (j - 5) * 20 + i - 3
            same(found.outputs[0, j, i], [i, j, number, lane])


def test_uncovered_pixels_have_numbers_too() -> None:
    """They compute: what they write to the share is seen. The domain is one pixel, at lane 3 of its quad."""
    a = Assembly()
    a.fetch(share_write(0, dst_stride=4))
    for lane in (0, 1, 2):
        a.alu(moves(4, f"#{lane:x}", "0"))
        a.fetch(share_read(5 + lane, 4))
    found = execute(a, (5, 6, 7), domain=(7, 9, 7, 9), information={**_CS, "lds_dwords": 4})
    same(found.outputs[:, 9, 7], [[6, 8, 0xFFFFFFFE, 0], [7, 8, 0xFFFFFFFF, 1], [6, 9, 0xFFFFFFFF, 2]])


def test_a_program_that_only_exports_may_have_any_share() -> None:
    a = Assembly()
    a.output(0)
    assert run(Job(program=a.executable(lds_dwords=1024), wavefront=64)).error is None


_GPRS, _LANES = 8, 16
_POSITIONS = [(2 * quad + lane % 2, lane // 2) for quad in range(4) for lane in range(4)]


class Wavefront:
    """The share and the registers of 16 pixels, [pixel][register][component], one access after another."""

    def __init__(self, registers: list, lds: int, active: list[int]) -> None:
        self.registers = registers
        self._share: dict[tuple[int, int], int] = {}
        self._lds = lds
        self._active = active

    def _register(self, pixel: int, number: int) -> list[int]:
        return self.registers[pixel][number] if number < _GPRS else [0] * 4

    def write(self, src: int, index: int, stride: int, burst: int, selects: list[int]) -> None:
        for k in range(burst):
            for t in self._active:
                values = [*self._register(t, src + k), 0, 0x3F800000, 0]
                for component, select in enumerate(selects):
                    dword = t // 4 * stride + index + 4 * k + component
                    if select != 7 and dword < self._lds:
                        self._share[t % 4, dword] = values[select]

    def read(
        self, dst: int, src: int, offset: int, burst: int, selects: list[int], *, word: bool, broadcast: bool
    ) -> None:
        addresses = [[self._register(t, src)[select] for select in selects] for t in range(_LANES)]
        for k in range(burst):
            for t in self._active:
                bank, dword = addresses[self._active[0] if broadcast else t]
                dword = (dword + offset) % 2**32 + 4 * k
                for component in range(4):
                    at = dword if word else dword // 4 * 4 + component
                    self._register(t, dst + k)[component] = self._share.get((bank % 4, at), 0)


@pytest.mark.parametrize("seed", range(40))
def test_random_accesses(seed: int) -> None:
    generator = np.random.default_rng(seed)

    def below(end: int) -> int:
        return int(generator.integers(end))

    lds = 4 * below(9)
    values = generator.integers(0, 40, (_GPRS, 2, 8, 4)).astype(np.uint32)
    bit = below(5)
    active = [t for t in range(_LANES) if bit == 4 or t >> bit & 1]
    registers = [[values[number, j, i].tolist() for number in range(_GPRS)] for i, j in _POSITIONS]
    model = Wavefront(registers, lds, active)
    a = Assembly()
    # The registers get what the inputs hold, so the lane is looked at before.
    lane = slot("AND_INT", "T0.x", "R0.w", f"#{1 << bit:x}") if bit < 4 else slot("MOV", "T0.x", "1i")
    a.alu(group(lane))
    a.fetch(*(tex("LD", number, 0, number) for number in range(_GPRS - 1, -1, -1)))
    a.alu(group(slot("PRED_SETNE_INT", "_.x", "T0.x", "0", updates_mask=True)), name="ALU_PUSH_BEFORE")
    instructions = []
    for _ in range(6):
        source, burst = below(_GPRS), 1 + below(3)
        if generator.random() < 0.5:
            index, stride = 4 * below(4), 4 * below(4)
            selects = [int(select) for select in generator.choice([0, 1, 2, 3, 4, 5, 6, 7], 4)]
            fields = {f"src_sel_{c}": select for c, select in zip("xyzw", selects, strict=True)}
            instructions.append(
                share_write(source, dst_index=index, dst_stride=stride, burst_count=burst - 1, **fields)
            )
            model.write(source, index, stride, burst, selects)
        else:
            target, offset, word, broadcast = below(_GPRS), below(8), bool(below(2)), bool(below(2))
            selects = [below(4), below(4)]
            modes = {"mux_cntl": 2 * word, "broadcast": int(broadcast), "waterfall": below(2), "rd_offset": offset}
            fields = {"src_sel_x": selects[0], "src_sel_y": selects[1], "burst_count": burst - 1}
            instructions.append(share_read(target, source, **fields, **modes))
            model.read(target, source, offset, burst, selects, word=word, broadcast=broadcast)
    a.fetch(*instructions, name=("TEX", "VTX", "VTX_TC")[below(3)])
    a.flow("POP", pop=1)
    inputs = {number: Input(values=values[number]) for number in range(_GPRS)}
    for first_register in (0, 4):
        found = execute(
            a, tuple(range(first_register, first_register + 4)), domain=(0, 0, 7, 1), wavefront=16, inputs=inputs,
            information={**_CS, "lds_dwords": lds, "gprs": _GPRS},
        )  # fmt: skip
        # The next ones are exported instead.
        del a.words[-4:]
        expected = [[model.registers[t][first_register + n] for t in range(_LANES)] for n in range(4)]
        same(np.stack([found.outputs[:, j, i] for i, j in _POSITIONS], axis=1), expected)
