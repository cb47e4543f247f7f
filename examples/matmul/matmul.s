; C = A * B. Each processor computes 4 x 4 numbers of C: rows 4j to 4j+3, columns 4i to 4i+3.
;
; i0  A transposed, [K, M/4, 4]: the element at (j, k) is column k of A in this block's four rows
; i1  B,            [K, N/4, 4]: the element at (i, k) is row k of B in this block's four columns
; o0  to o3: row 4j of C, row 4j+1, ...
; i0 (integer)  K/4
;
; The block of C grows by outer products: for every k each of A's four numbers times all four of B's. So 8 lookups feed
; 16 multiply-adds of four channels. Neighbouring processors of a row read the same element of A and neighbouring
; elements of B, which lie in one cache line.

.equ near = r1                                 ; (k,   k+1, i, j): coordinates of the lookups
.equ far = r2                                  ; (k+2, k+3, i, j)
.equ column0 = r4
.equ column1 = r5
.equ column2 = r6
.equ column3 = r7
.equ row0 = r8
.equ row1 = r9
.equ row2 = r10
.equ row3 = r11
.equ sum0 = r12                                ; temporaries are 0 at the start
.equ sum1 = r13
.equ sum2 = r14
.equ sum3 = r15

ALU near = MOV(r0.01rg)
ALU far = MAD(.1100, 2.0, r0.01rg)

REP i0
    TEX column0 = LOOKUP(i0, near.ar) unscaled
    TEX row0    = LOOKUP(i1, near.br) unscaled
    TEX column1 = LOOKUP(i0, near.ag) unscaled
    TEX row1    = LOOKUP(i1, near.bg) unscaled
    TEX column2 = LOOKUP(i0, far.ar) unscaled
    TEX row2    = LOOKUP(i1, far.br) unscaled
    TEX column3 = LOOKUP(i0, far.ag) unscaled
    TEX row3    = LOOKUP(i1, far.bg) unscaled

    ; The coordinates go on while the lookups are on their way.
    ALU near.rg = ADD(near, 4.0)
    ALU far.rg  = ADD(far, 4.0)

    ALU sum0 = MAD(column0.r, row0, sum0)
    ALU sum1 = MAD(column0.g, row0, sum1)
    ALU sum2 = MAD(column0.b, row0, sum2)
    ALU sum3 = MAD(column0.a, row0, sum3)
    ALU sum0 = MAD(column1.r, row1, sum0)
    ALU sum1 = MAD(column1.g, row1, sum1)
    ALU sum2 = MAD(column1.b, row1, sum2)
    ALU sum3 = MAD(column1.a, row1, sum3)
    ALU sum0 = MAD(column2.r, row2, sum0)
    ALU sum1 = MAD(column2.g, row2, sum1)
    ALU sum2 = MAD(column2.b, row2, sum2)
    ALU sum3 = MAD(column2.a, row2, sum3)
    ALU sum0 = MAD(column3.r, row3, sum0)
    ALU sum1 = MAD(column3.g, row3, sum1)
    ALU sum2 = MAD(column3.b, row3, sum2)
    ALU sum3 = MAD(column3.a, row3, sum3)
ENDREP

OUT o0 = MOV(sum0)
OUT o1 = MOV(sum1)
OUT o2 = MOV(sum2)
OUT o3 = MOV(sum3)
