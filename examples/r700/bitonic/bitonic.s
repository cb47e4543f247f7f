.isa r700

; One pass of a bitonic sort: each pixel compares its key with that of its partner and keeps the right one.
;
; t0  the keys, row after row        o0  the keys after this pass
; C0  (d, k) as integers: the pass for distance d in blocks of k keys
;
; The number of a key is e; the partner's differs in bit d. A pair is sorted upwards where e's bit k is 0.

.equ number = R1                        ; (e, partner)
.equ at = R2                            ; the partner's column and row
.equ mine = R3
.equ other = R4
.equ bits = R5

FLT_TO_INT R0.x, R0.x
FLT_TO_INT R0.y, R0.y
LSHL_INT number.x, R0.y, 6
ADD_INT number.x, number.x, R0.x
XOR_INT number.y, number.x, C0.x
0 x: AND_INT  at.x, number.y, 63
  y: LSHR_INT at.y, number.y, 6

LD mine.x___, R0.xy00, t0
LD other.x___, at.xy00, t0

0 x: AND_INT  ____, number.x, C0.x
  y: AND_INT  ____, number.x, C0.y
  z: MIN_DX10 at.z, mine.x, other.x
  w: MAX_DX10 at.w, mine.x, other.x
1 x: SETE_INT ____, PV.x, 0
  y: SETE_INT ____, PV.y, 0
2 x: XOR_INT  ____, PV.x, PV.y          ; the smaller key belongs where both bits are equal
3 x: CNDE_INT mine.x, PV.x, at.z, at.w

EXPORT PIX0, mine.x___
