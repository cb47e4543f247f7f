.isa r700

; One pass of a prefix sum: each pixel adds the number of the one that is C0.x before it, row after row.
;
; t1  the sums so far, 64 in a row; o1  the sums after this pass: integers in the bits of floats

FLT_TO_INT R0.x, R0.x
FLT_TO_INT R0.y, R0.y
LSHL_INT R1.x, R0.y, 6
ADD_INT R1.x, R1.x, R0.x
SUB_INT R1.x, R1.x, C0.x
0 x: AND_INT  R2.x, R1.x, 63
  y: ASHR_INT R2.y, R1.x, 6

LD R3.x___, R0.xy00, t1
LD R4.x___, R2.xy00, t1                 ; the edge where there is none

ADD_INT R4.x, R3.x, R4.x
CNDGE_INT R3.x, R1.x, R4.x, R3.x

EXPORT PIX1, R3.x___
