"""Where the fields of fetch instructions are, typed from the tables of chapter 5; what is in no field is reserved."""

from collections.abc import Mapping

Field = tuple[int, int, int]
"""Word, highest bit, lowest bit."""
Form = Mapping[str, Field]

WORD_BITS = 32


def _of(word: int, **fields: tuple[int, int]) -> dict[str, Field]:
    return {name: (word, *bits) for name, bits in fields.items()}


_SELECTS = {"dst_x": (11, 9), "dst_y": (14, 12), "dst_z": (17, 15), "dst_w": (20, 18)}
_FORMAT = {"data_format": (27, 22), "num_format": (29, 28), "format_comp": (30, 30), "srf_mode": (31, 31)}

TEXTURE: Form = {
    **_of(0, inst=(4, 0), bc_frac_mode=(5, 5), whole_quad=(7, 7), resource=(15, 8), src=(22, 16), src_rel=(23, 23),
          alt_const=(24, 24)),
    **_of(1, dst=(6, 0), dst_rel=(7, 7), **_SELECTS, lod_bias=(27, 21), type_x=(28, 28), type_y=(29, 29),
          type_z=(30, 30), type_w=(31, 31)),
    **_of(2, offset_x=(4, 0), offset_y=(9, 5), offset_z=(14, 10), sampler=(19, 15), src_x=(22, 20), src_y=(25, 23),
          src_z=(28, 26), src_w=(31, 29)),
}  # fmt: skip
VERTEX: Form = {
    **_of(0, inst=(4, 0), fetch_type=(6, 5), whole_quad=(7, 7), resource=(15, 8), src=(22, 16), src_rel=(23, 23),
          src_x=(25, 24), mega_count=(31, 26)),
    **_of(1, dst=(6, 0), dst_rel=(7, 7), **_SELECTS, use_const_fields=(21, 21), **_FORMAT),
    **_of(2, offset=(15, 0), endian=(17, 16), no_stride=(18, 18), mega_fetch=(19, 19), alt_const=(20, 20)),
}  # fmt: skip
AREA: Form = {
    **_of(0, inst=(4, 0), elem_size=(6, 5), whole_quad=(7, 7), mem_op=(10, 8), uncached=(11, 11), indexed=(12, 12),
          src_y=(14, 13), src=(22, 16), src_rel=(23, 23), src_x=(25, 24), burst=(29, 26), lds_req=(30, 30),
          coalesced=(31, 31)),
    **_of(1, dst=(6, 0), dst_rel=(7, 7), **_SELECTS, **_FORMAT),
    **_of(2, base=(12, 0), endian=(17, 16), size=(31, 20)),
}  # fmt: skip
SHARE_WRITE: Form = {
    **_of(0, inst=(4, 0), mem_op=(10, 8), src=(17, 11), rel_mode=(19, 18), src_x=(22, 20), src_y=(25, 23),
          src_z=(28, 26), src_w=(31, 29)),
    **_of(1, index=(7, 0), stride=(24, 16), wave_rel=(31, 31)),
    **_of(2, burst=(3, 0)),
}  # fmt: skip
"""Lower and higher bits of DST_INDEX are beside each other, as those of DST_STRIDE."""
SHARE_READ: Form = {
    **_of(0, inst=(4, 0), mem_op=(10, 8), src=(17, 11), rel_mode=(19, 18), src_x=(22, 20), src_y=(25, 23),
          offset=(31, 26)),
    **_of(1, dst=(6, 0), dst_rel_mode=(8, 7), write_x=(9, 9), write_y=(10, 10), write_z=(11, 11), write_w=(12, 12),
          broadcast=(16, 16), waterfall=(17, 17), mux=(22, 20)),
    **_of(2, burst=(3, 0)),
}  # fmt: skip


def _shift(field: Field) -> tuple[int, int]:
    word, high, low = field
    return WORD_BITS * word + low, (1 << high - low + 1) - 1


def packed(form: Form, **values: int) -> int:
    """The 128 bits of an instruction."""
    bits = 0
    for name, value in values.items():
        shift, mask = _shift(form[name])
        assert 0 <= value <= mask, name
        bits |= value << shift
    return bits


def fields(form: Form, bits: int) -> dict[str, int]:
    """The fields of an instruction."""
    return {name: bits >> shift & mask for name, (shift, mask) in ((name, _shift(form[name])) for name in form)}


def has_reserved(form: Form, bits: int) -> bool:
    """Whether a bit is set that is in no field."""
    return packed(form, **fields(form, bits)) != bits
