"""The operations that the R700's golden model computes, with how many operands each has."""

VALUES = {
    **dict.fromkeys(("NOP",), 0),
    **dict.fromkeys(
        (
            "FRACT", "TRUNC", "CEIL", "RNDNE", "FLOOR", "MOVA", "MOVA_FLOOR", "MOVA_INT", "MOV", "NOT_INT",
            "EXP_IEEE", "LOG_CLAMPED", "LOG_IEEE", "RECIP_CLAMPED", "RECIP_FF", "RECIP_IEEE", "RECIPSQRT_CLAMPED",
            "RECIPSQRT_FF", "RECIPSQRT_IEEE", "SQRT_IEEE", "FLT_TO_INT", "INT_TO_FLT", "UINT_TO_FLT", "SIN", "COS",
            "RECIP_INT", "RECIP_UINT", "FLT_TO_UINT",
        ),
        1,
    ),
    **dict.fromkeys(
        (
            "ADD", "MUL", "MUL_IEEE", "MAX", "MIN", "MAX_DX10", "MIN_DX10", "SETE", "SETGT", "SETGE", "SETNE",
            "SETE_DX10", "SETGT_DX10", "SETGE_DX10", "SETNE_DX10", "AND_INT", "OR_INT", "XOR_INT", "ADD_INT", "SUB_INT",
            "MAX_INT", "MIN_INT", "MAX_UINT", "MIN_UINT", "SETE_INT", "SETGT_INT", "SETGE_INT", "SETNE_INT",
            "SETGT_UINT", "SETGE_UINT", "ASHR_INT", "LSHR_INT", "LSHL_INT", "MULLO_INT", "MULHI_INT", "MULLO_UINT",
            "MULHI_UINT",
        ),
        2,
    ),
    **dict.fromkeys(
        (
            "MUL_LIT", "MUL_LIT_M2", "MUL_LIT_M4", "MUL_LIT_D2", "MULADD", "MULADD_M2", "MULADD_M4", "MULADD_D2",
            "MULADD_IEEE", "MULADD_IEEE_M2", "MULADD_IEEE_M4", "MULADD_IEEE_D2", "CNDE", "CNDGT", "CNDGE", "CNDE_INT",
            "CNDGT_INT", "CNDGE_INT",
        ),
        3,
    ),
}  # fmt: skip

PREDICATES = {
    **dict.fromkeys(("PRED_SET_CLR",), 0),
    **dict.fromkeys(("PRED_SET_INV", "PRED_SET_RESTORE"), 1),
    **dict.fromkeys(
        (
            "PRED_SETGT_UINT", "PRED_SETGE_UINT", "PRED_SETE", "PRED_SETGT", "PRED_SETGE", "PRED_SETNE", "PRED_SET_POP",
            "PRED_SETE_PUSH", "PRED_SETGT_PUSH", "PRED_SETGE_PUSH", "PRED_SETNE_PUSH", "KILLE", "KILLGT", "KILLGE",
            "KILLNE", "KILLGT_UINT", "KILLGE_UINT", "PRED_SETE_INT", "PRED_SETGT_INT", "PRED_SETGE_INT",
            "PRED_SETNE_INT", "KILLE_INT", "KILLGT_INT", "KILLGE_INT", "KILLNE_INT", "PRED_SETE_PUSH_INT",
            "PRED_SETGT_PUSH_INT", "PRED_SETGE_PUSH_INT", "PRED_SETNE_PUSH_INT", "PRED_SETLT_PUSH_INT",
            "PRED_SETLE_PUSH_INT",
        ),
        2,
    ),
}  # fmt: skip

REDUCTIONS = {"MAX4": 1, "DOT4": 2, "DOT4_IEEE": 2, "CUBE": 2}
"""How many operands each slot has."""

INDICES = ("MOVA", "MOVA_FLOOR", "MOVA_INT")
