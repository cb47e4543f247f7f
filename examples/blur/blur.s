; A Gaussian blur over 5 x 5 pixels of one channel, by fetches of 2 x 2.
;
; i0  the picture, one channel, a tiling of the kind INP_2X2      o0  the blurred picture
;
; A fetch of an INP_2X2 input brings four neighbours at once: (x+1, y), (x, y+1), (x+1, y+1), (x, y) in R, G, B, A.
; Nine fetches cover 6 x 6 pixels; the sixth column and row have the weight 0. Each fetch's four pixels are weighted by
; one multiply-add of four channels, and one dot product adds the four sums up.
;
; c0 to c8   weights of the nine fetches, left to right, then bottom to top
; c9 to c11  offsets (-2, 0, 2, y) of the fetches in a row, y = -2, 0, 2
;
; Clamping at the edge moves a whole fetch of 2 x 2, so the domain has the pixels whose 6 x 6 are inside the picture.

.equ below = r1                                ; (i-2, i, i+2, row): coordinates
.equ level = r2
.equ above = r3
.equ sum = r13

ALU below = ADD(r0.rrrg, c9)
ALU level = ADD(r0.rrrg, c10)
ALU above = ADD(r0.rrrg, c11)

TEX r4  = LOOKUP(i0, below.ra) unscaled
TEX r5  = LOOKUP(i0, below.ga) unscaled
TEX r6  = LOOKUP(i0, below.ba) unscaled
TEX r7  = LOOKUP(i0, level.ra) unscaled
TEX r8  = LOOKUP(i0, level.ga) unscaled
TEX r9  = LOOKUP(i0, level.ba) unscaled
TEX r10 = LOOKUP(i0, above.ra) unscaled
TEX r11 = LOOKUP(i0, above.ga) unscaled
TEX r12 = LOOKUP(i0, above.ba) unscaled

ALU sum = MUL(r4, c0)
ALU sum = MAD(r5, c1, sum)
ALU sum = MAD(r6, c2, sum)
ALU sum = MAD(r7, c3, sum)
ALU sum = MAD(r8, c4, sum)
ALU sum = MAD(r9, c5, sum)
ALU sum = MAD(r10, c6, sum)
ALU sum = MAD(r11, c7, sum)
ALU sum = MAD(r12, c8, sum)

OUT o0.r = DP4(sum, 1)
