; One pass of a bitonic sort: each pixel compares its key with that of its partner and keeps the right one.
;
; i0  the keys, row after row        o0  the keys after this pass
;
; In the pass for distance d in blocks of k keys, the partner of key e is e + d or e - d: the one whose bit d differs.
; The pair is sorted upwards where e's bit k is 0. The fraction of e / 2d is at least 1/2 where bit d is set. Both d and
; k are powers of two, so that each concerns either the column or the row:
;
; c0  (1/2d of columns, 1/2d of rows, half of their sum)         c1  the same for k
; c2  (d of columns, d of rows)
;
; The half keeps the fraction away from 1/2. All of it is exact.

.equ bits = r1                                 ; r: bit d, g: bit k; as -1/2..0 for a 0, 0..1/2 for a 1
.equ partner = r2
.equ mine = r3
.equ other = r4

TEX mine.r = LOOKUP(i0, r0.rg) unscaled
ALU bits.r = D2A(r0, c0, c0)
ALU bits.g = D2A(r0, c1, c1)
ALU bits.rg = FRC(bits)
ALU bits.rg = ADD(bits, -0.5)
ALU partner.rg = CMP(-c2, c2, bits.rrr)
ALU partner.rg = ADD(partner, r0)
TEX other.r = LOOKUP(i0, partner.rg) unscaled

; The smaller key belongs where both bits are equal: their product is positive.
ALU bits.b = MUL(bits.r, bits.g)
ALU partner.r = MIN(mine, other) exact
ALU partner.g = MAX(mine.r, other.r) exact
OUT o0.r = CMP(partner.r, partner.g, bits.b) exact
