; C = A * B. Each pixel computes 4 x 4 numbers of C: rows 4j to 4j+3, columns 4i to 4i+3.
;
; i0  A transposed, [K, M/4, 4]: the element at (j, k) is column k of A in this block's four rows
; i1  B,            [K, N/4, 4]: the element at (i, k) is row k of B in this block's four columns
; o0  to o3: row 4j of C, row 4j+1, ...
; i0 (integer)  K/8
;
; The block of C grows by outer products: for every k each of A's four numbers times all four of B's. So 8 fetches feed
; 16 multiply-adds of four channels. Neighbouring pixels of a row read the same element of A and neighbouring
; elements of B, which lie in one cache line.
;
; Coordinates go on beside multiply-adds: in every fourth step those are of three channels, the alpha unit counts, and
; one more instruction multiplies and adds all four channels a. So the 8 additions of a round take 2 instructions, not
; the 3 or more that they would by themselves. The channels a of the sums have two halves, which are added at the end.
;
; Each half of the loop multiplies what the other half has fetched, so that fetches have the time of 17 instructions
; to come. The last fetch of each half acquires the semaphore, so that it waits for the other half's, and the
; multiply-adds after it need not wait for its own. The last round fetches four steps too many, which are clamped to
; the last one and not used.

.equ at0 = r1                                  ; (i, j, 0, k): coordinates of the fetches
.equ at1 = r0                                  ; (i, j, 0, k+1): at the start that is (i, j, 0, 1)
.equ at2 = r2
.equ at3 = r3
.equ at4 = r4
.equ at5 = r5
.equ at6 = r6
.equ at7 = r7
.equ column0 = r8
.equ column1 = r9
.equ column2 = r10
.equ column3 = r11
.equ row0 = r12
.equ row1 = r13
.equ row2 = r14
.equ row3 = r15
.equ column4 = r16
.equ column5 = r17
.equ column6 = r18
.equ column7 = r19
.equ row4 = r20
.equ row5 = r21
.equ row6 = r22
.equ row7 = r23
.equ sum0 = r24                                ; temporaries are 0 at the start
.equ sum1 = r25
.equ sum2 = r26
.equ sum3 = r27
.equ sums_a = r28                              ; what every fourth step adds to their channels a

ALU at0 = MOV(r0.rg00)
ALU at2.rgb = MOV(r0.rg0) || at2.a = MOV(2.0)
ALU at3.rgb = MOV(r0.rg0) || at3.a = MOV(3.0)

TEX column0 = LOOKUP(i0, at0.ga) unscaled
TEX row0    = LOOKUP(i1, at0.ra) unscaled
TEX column1 = LOOKUP(i0, at1.ga) unscaled
TEX row1    = LOOKUP(i1, at1.ra) unscaled
TEX column2 = LOOKUP(i0, at2.ga) unscaled
TEX row2    = LOOKUP(i1, at2.ra) unscaled
TEX column3 = LOOKUP(i0, at3.ga) unscaled
TEX row3    = LOOKUP(i1, at3.ra) unscaled

ALU at4.rgb = MOV(r0.rg0) || at4.a = MOV(4.0)
ALU at5.rgb = MOV(r0.rg0) || at5.a = MOV(5.0)
ALU at6.rgb = MOV(r0.rg0) || at6.a = MOV(6.0)
ALU at7.rgb = MOV(r0.rg0) || at7.a = MOV(7.0)

REP i0
    TEX column4 = LOOKUP(i0, at4.ga) unscaled
    TEX row4    = LOOKUP(i1, at4.ra) unscaled
    TEX column5 = LOOKUP(i0, at5.ga) unscaled
    TEX row5    = LOOKUP(i1, at5.ra) unscaled
    TEX column6 = LOOKUP(i0, at6.ga) unscaled
    TEX row6    = LOOKUP(i1, at6.ra) unscaled
    TEX column7 = LOOKUP(i0, at7.ga) unscaled
    TEX row7    = LOOKUP(i1, at7.ra) unscaled acquire

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
    ALU sum0.rgb = MAD(column3.r, row3, sum0) || at0.a = ADD(at0, 8.0)
    ALU sum1.rgb = MAD(column3.g, row3, sum1) || at1.a = ADD(at1, 8.0)
    ALU sum2.rgb = MAD(column3.b, row3, sum2) || at2.a = ADD(at2, 8.0)
    ALU sum3.rgb = MAD(column3.a, row3, sum3) || at3.a = ADD(at3, 8.0)
    ALU sums_a = MAD(column3, row3.a, sums_a)

    TEX column0 = LOOKUP(i0, at0.ga) unscaled
    TEX row0    = LOOKUP(i1, at0.ra) unscaled
    TEX column1 = LOOKUP(i0, at1.ga) unscaled
    TEX row1    = LOOKUP(i1, at1.ra) unscaled
    TEX column2 = LOOKUP(i0, at2.ga) unscaled
    TEX row2    = LOOKUP(i1, at2.ra) unscaled
    TEX column3 = LOOKUP(i0, at3.ga) unscaled
    TEX row3    = LOOKUP(i1, at3.ra) unscaled acquire

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
    ALU sum0.rgb = MAD(column7.r, row7, sum0) || at4.a = ADD(at4, 8.0)
    ALU sum1.rgb = MAD(column7.g, row7, sum1) || at5.a = ADD(at5, 8.0)
    ALU sum2.rgb = MAD(column7.b, row7, sum2) || at6.a = ADD(at6, 8.0)
    ALU sum3.rgb = MAD(column7.a, row7, sum3) || at7.a = ADD(at7, 8.0)
    ALU sums_a = MAD(column7, row7.a, sums_a)
ENDREP

OUT o0.rgb = MOV(sum0) || o0.a = ADD(sum0, sums_a.r)
OUT o1.rgb = MOV(sum1) || o1.a = ADD(sum1, sums_a.g)
OUT o2.rgb = MOV(sum2) || o2.a = ADD(sum2, sums_a.b)
OUT o3.rgb = MOV(sum3) || o3.a = ADD(sum3, sums_a.a)
