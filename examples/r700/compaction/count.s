.isa r700

; How many of a pixel's 16 numbers are kept: those above C0.x.
;
; t0  the numbers, [height, 4 * width, 4]: pixel (i, j) has the elements 4i to 4i + 3 of row j
; o1  the count, an integer in the bits of a float

.equ at = R1                            ; (4i, j): the others are whole texels to the right
.equ count = R6                         ; minus the count in each channel: a mask is -1

FLT_TO_INT R0.x, R0.x
FLT_TO_INT at.y, R0.y
LSHL_INT at.x, R0.x, 2

LD R2.xyzw, at.xy00, t0
LD R3.xyzw, at.xy00, t0 OFFSET(1.0, 0.0)
LD R4.xyzw, at.xy00, t0 OFFSET(2.0, 0.0)
LD R5.xyzw, at.xy00, t0 OFFSET(3.0, 0.0)

.pack
SETGT_DX10 R2.x, R2.x, C0.x
SETGT_DX10 R2.y, R2.y, C0.x
SETGT_DX10 R2.z, R2.z, C0.x
SETGT_DX10 R2.w, R2.w, C0.x
SETGT_DX10 R3.x, R3.x, C0.x
SETGT_DX10 R3.y, R3.y, C0.x
SETGT_DX10 R3.z, R3.z, C0.x
SETGT_DX10 R3.w, R3.w, C0.x
SETGT_DX10 R4.x, R4.x, C0.x
SETGT_DX10 R4.y, R4.y, C0.x
SETGT_DX10 R4.z, R4.z, C0.x
SETGT_DX10 R4.w, R4.w, C0.x
SETGT_DX10 R5.x, R5.x, C0.x
SETGT_DX10 R5.y, R5.y, C0.x
SETGT_DX10 R5.z, R5.z, C0.x
SETGT_DX10 R5.w, R5.w, C0.x
ADD_INT R2.x, R2.x, R3.x
ADD_INT R2.y, R2.y, R3.y
ADD_INT R2.z, R2.z, R3.z
ADD_INT R2.w, R2.w, R3.w
ADD_INT R4.x, R4.x, R5.x
ADD_INT R4.y, R4.y, R5.y
ADD_INT R4.z, R4.z, R5.z
ADD_INT R4.w, R4.w, R5.w
ADD_INT R2.x, R2.x, R4.x
ADD_INT R2.y, R2.y, R4.y
ADD_INT R2.z, R2.z, R4.z
ADD_INT R2.w, R2.w, R4.w
ADD_INT R2.x, R2.x, R2.y
ADD_INT R2.z, R2.z, R2.w
ADD_INT R2.x, R2.x, R2.z
SUB_INT count.x, 0, R2.x
.endpack

EXPORT PIX1, count.x___
