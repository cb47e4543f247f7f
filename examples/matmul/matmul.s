; C = A * B. Each processor computes 4 x 4 numbers of C: rows 4j to 4j+3, columns 4i to 4i+3.
;
; i0  A transposed, [K, M/4, 4]: the element at (j, k) is column k of A in this block's four rows
; i1  B,            [K, N/4, 4]: the element at (i, k) is row k of B in this block's four columns
; o0  to o3: row 4j of C, row 4j+1, ...
; i0 (integer)  K/8
;
; The block of C grows by outer products: for every k each of A's four numbers times all four of B's. So 8 lookups feed
; 16 multiply-adds of four channels. Neighbouring processors of a row read the same element of A and neighbouring
; elements of B, which lie in one cache line.
;
; Each half of the loop multiplies what the other half has looked up, so that lookups have the time of 16 multiply-adds
; to come. The last lookup of each half acquires the semaphore, so that it waits for the other half's, and the
; multiply-adds behind it need not wait for its own. The last round looks up four steps too many, which are clamped to
; the last one and not used.

.equ at01 = r1                                 ; (k,   k+1, i, j): coordinates of the lookups
.equ at2 = r2                                  ; (i, j, 0, k+2)
.equ at34 = r3                                 ; (k+3, k+4, i, j)
.equ at5 = r4                                  ; (i, j, 0, k+5)
.equ at67 = r5                                 ; (k+6, k+7, i, j)
.equ column0 = r6
.equ column1 = r7
.equ column2 = r8
.equ column3 = r9
.equ row0 = r10
.equ row1 = r11
.equ row2 = r12
.equ row3 = r13
.equ column4 = r14
.equ column5 = r15
.equ column6 = r16
.equ column7 = r17
.equ row4 = r18
.equ row5 = r19
.equ row6 = r20
.equ row7 = r21
.equ sum0 = r22                                ; temporaries are 0 at the start
.equ sum1 = r23
.equ sum2 = r24
.equ sum3 = r25

ALU at01 = MOV(r0.01rg)
ALU at2.rgb = MOV(r0.rg0) || at2.a = MOV(2.0)
ALU at34 = MAD(.1100, 3.0, r0.01rg)
ALU at5.rgb = MOV(r0.rg0) || at5.a = MOV(5.0)
ALU at67 = MAD(.1100, 6.0, r0.01rg)

TEX column0 = LOOKUP(i0, at01.ar) unscaled
TEX row0    = LOOKUP(i1, at01.br) unscaled
TEX column1 = LOOKUP(i0, at01.ag) unscaled
TEX row1    = LOOKUP(i1, at01.bg) unscaled
TEX column2 = LOOKUP(i0, at2.ga) unscaled
TEX row2    = LOOKUP(i1, at2.ra) unscaled
TEX column3 = LOOKUP(i0, at34.ar) unscaled
TEX row3    = LOOKUP(i1, at34.br) unscaled

REP i0
    TEX column4 = LOOKUP(i0, at34.ag) unscaled
    TEX row4    = LOOKUP(i1, at34.bg) unscaled
    TEX column5 = LOOKUP(i0, at5.ga) unscaled
    TEX row5    = LOOKUP(i1, at5.ra) unscaled
    TEX column6 = LOOKUP(i0, at67.ar) unscaled
    TEX row6    = LOOKUP(i1, at67.br) unscaled
    TEX column7 = LOOKUP(i0, at67.ag) unscaled
    TEX row7    = LOOKUP(i1, at67.bg) unscaled acquire

    ; Three coordinates go on in one instruction: two in RGB, and one of another register in alpha.
    ALU at01.rg = ADD(at01, 8.0) || at2.a = ADD(at2, 8.0)
    ALU at34.rg = ADD(at34, 8.0) || at5.a = ADD(at5, 8.0)
    ALU at67.rg = ADD(at67, 8.0)

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

    TEX column0 = LOOKUP(i0, at01.ar) unscaled
    TEX row0    = LOOKUP(i1, at01.br) unscaled
    TEX column1 = LOOKUP(i0, at01.ag) unscaled
    TEX row1    = LOOKUP(i1, at01.bg) unscaled
    TEX column2 = LOOKUP(i0, at2.ga) unscaled
    TEX row2    = LOOKUP(i1, at2.ra) unscaled
    TEX column3 = LOOKUP(i0, at34.ar) unscaled
    TEX row3    = LOOKUP(i1, at34.br) unscaled acquire

    ALU sum0 = MAD(column4.r, row4, sum0)
    ALU sum1 = MAD(column4.g, row4, sum1)
    ALU sum2 = MAD(column4.b, row4, sum2)
    ALU sum3 = MAD(column4.a, row4, sum3)
    ALU sum0 = MAD(column5.r, row5, sum0)
    ALU sum1 = MAD(column5.g, row5, sum1)
    ALU sum2 = MAD(column5.b, row5, sum2)
    ALU sum3 = MAD(column5.a, row5, sum3)
    ALU sum0 = MAD(column6.r, row6, sum0)
    ALU sum1 = MAD(column6.g, row6, sum1)
    ALU sum2 = MAD(column6.b, row6, sum2)
    ALU sum3 = MAD(column6.a, row6, sum3)
    ALU sum0 = MAD(column7.r, row7, sum0)
    ALU sum1 = MAD(column7.g, row7, sum1)
    ALU sum2 = MAD(column7.b, row7, sum2)
    ALU sum3 = MAD(column7.a, row7, sum3)
ENDREP

OUT o0 = MOV(sum0)
OUT o1 = MOV(sum1)
OUT o2 = MOV(sum2)
OUT o3 = MOV(sum3)
