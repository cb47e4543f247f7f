.isa r700
.type cs
.lds 16

; Sums over wavefronts of 16 pixels, through the local data share: each pixel gets the sum of its own 8 x 2 pixels.
;
; t0  the numbers, o0 the sums: four for each pixel
;
; In four rounds the pixels exchange their sums with the pixel whose number in the wavefront differs in one bit. A
; pixel writes 16 bytes of the data share, in bank p & 3, row p >> 2, and reads any. R0 of a compute
; program is the integers (i, j, number in the domain, number in the wavefront).

.equ sum = R1
.equ partner = R2                       ; (its number, its bank, its dword)
.equ theirs = R3
.equ bit = R4

LD sum.xyzw, R0.xy00, t0
MOV bit.x, 1

REP i0
    XOR_INT partner.x, R0.w, bit.x
    0 y: AND_INT  partner.y, partner.x, 3
      z: AND_INT  partner.z, partner.x, -4
    LOCAL_DS_WRITE sum.xyzw INDEX(0) STRIDE(4) WAVE_REL
    LOCAL_DS_READ theirs.xyzw, partner.yz
    0 x: ADD sum.x, sum.x, theirs.x
      y: ADD sum.y, sum.y, theirs.y
      z: ADD sum.z, sum.z, theirs.z
      w: ADD sum.w, sum.w, theirs.w
      t: LSHL_INT bit.x, bit.x, 1
ENDLOOP

EXPORT PIX0, sum.xyzw
