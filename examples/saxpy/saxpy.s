; y = a * x + y, four numbers for each pixel.
;
; i0  x        i1  y        o0  y        c0.r  a

.equ a = c0.r
.equ x = r1
.equ y = r2

; r0 is (i, j, 0, 1) when a program starts: the coordinates of this pixel's element.
TEX x = LOOKUP(i0, r0.rg) unscaled
TEX y = LOOKUP(i1, r0.rg) unscaled

; The RGB and the alpha unit together are four fused multiply-adds.
OUT o0 = MAD(a, x, y)
