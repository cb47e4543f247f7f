.isa r700

; C = A * B. Each pixel computes 4 x 4 numbers of C: rows 4j to 4j+3, columns 4i to 4i+3.
;
; t0  A, [M, K/4, 4]: the element at (k/4, row) is four numbers of a row
; t1  B, [K, N/4, 4]: the element at (i, k) is four numbers of row k
; o0  to o3: row 4j of C, row 4j+1, ...
; i0  K/4
;
; Each round takes four columns of A and four rows of B: 8 lookups for 64 multiply-adds, in 14 groups of five. The
; vector slots add a number of A times a row of B to a row of C; slot t adds to the last row, number by number, what is
; left over of the ports: it reads the same row of B, and PV has the sum so far. Six slots count.

.equ at0 = R1                           ; (k/4, 4j, 4j+1, 4j+2): coordinates in A
.equ at3 = R2                           ; (k, 4j+3, k/4, i): in both
.equ at1 = R3                           ; (i, k+1, k+2, k+3): in B
.equ left0 = R4                         ; four rows of A
.equ left1 = R5
.equ left2 = R6
.equ left3 = R7
.equ right0 = R8                        ; four rows of B
.equ right1 = R9
.equ right2 = R10
.equ right3 = R11
.equ sum0 = R12                         ; registers are 0 at the start
.equ sum1 = R13
.equ sum2 = R14
.equ sum3 = R15

FLT_TO_INT at3.w, R0.x
FLT_TO_INT R0.y, R0.y
LSHL_INT at0.y, R0.y, 2
0 x: MOV     at1.x, at3.w
  y: ADD_INT at3.y, at0.y, 3
  z: ADD_INT at0.z, at0.y, 1
  w: ADD_INT at0.w, at0.y, 2
0 y: MOV     at1.y, 1
  z: MOV     at1.z, 2
  w: MOV     at1.w, 3

REP i0
    LD left0.xyzw, at0.xy00, t0
    LD left1.xyzw, at0.xz00, t0
    LD left2.xyzw, at0.xw00, t0
    LD left3.xyzw, at3.zy00, t0
    LD right0.xyzw, at3.wx00, t1
    LD right1.xyzw, at1.xy00, t1
    LD right2.xyzw, at1.xz00, t1
    LD right3.xyzw, at1.xw00, t1

    0  x: MULADD_IEEE sum0.x, left0.x, right0.x, sum0.x
       y: MULADD_IEEE sum0.y, left0.x, right0.y, sum0.y
       z: MULADD_IEEE sum0.z, left0.x, right0.z, sum0.z
       w: MULADD_IEEE sum0.w, left0.x, right0.w, sum0.w
       t: ADD_INT     at1.y, at1.y, 4
    1  x: MULADD_IEEE sum0.x, left0.y, right1.x, PV.x
       y: MULADD_IEEE sum0.y, left0.y, right1.y, PV.y
       z: MULADD_IEEE sum0.z, left0.y, right1.z, PV.z
       w: MULADD_IEEE sum0.w, left0.y, right1.w, PV.w
       t: MULADD_IEEE sum3.x, left3.y, right1.x, sum3.x
    2  x: MULADD_IEEE sum0.x, left0.z, right2.x, PV.x
       y: MULADD_IEEE sum0.y, left0.z, right2.y, PV.y
       z: MULADD_IEEE sum0.z, left0.z, right2.z, PV.z
       w: MULADD_IEEE sum0.w, left0.z, right2.w, PV.w
       t: MULADD_IEEE sum3.x, left3.z, right2.x, sum3.x
    3  x: MULADD_IEEE sum0.x, left0.w, right3.x, PV.x
       y: MULADD_IEEE sum0.y, left0.w, right3.y, PV.y
       z: MULADD_IEEE sum0.z, left0.w, right3.z, PV.z
       w: MULADD_IEEE sum0.w, left0.w, right3.w, PV.w
       t: MULADD_IEEE sum3.x, left3.w, right3.x, sum3.x
    4  x: MULADD_IEEE sum1.x, left1.x, right0.x, sum1.x
       y: MULADD_IEEE sum1.y, left1.x, right0.y, sum1.y
       z: MULADD_IEEE sum1.z, left1.x, right0.z, sum1.z
       w: MULADD_IEEE sum1.w, left1.x, right0.w, sum1.w
       t: ADD_INT     at1.z, at1.z, 4
    5  x: MULADD_IEEE sum1.x, left1.y, right1.x, PV.x
       y: MULADD_IEEE sum1.y, left1.y, right1.y, PV.y
       z: MULADD_IEEE sum1.z, left1.y, right1.z, PV.z
       w: MULADD_IEEE sum1.w, left1.y, right1.w, PV.w
       t: MULADD_IEEE sum3.z, left3.y, right1.z, sum3.z
    6  x: MULADD_IEEE sum1.x, left1.z, right2.x, PV.x
       y: MULADD_IEEE sum1.y, left1.z, right2.y, PV.y
       z: MULADD_IEEE sum1.z, left1.z, right2.z, PV.z
       w: MULADD_IEEE sum1.w, left1.z, right2.w, PV.w
       t: MULADD_IEEE sum3.y, left3.z, right2.y, sum3.y
    7  x: MULADD_IEEE sum1.x, left1.w, right3.x, PV.x
       y: MULADD_IEEE sum1.y, left1.w, right3.y, PV.y
       z: MULADD_IEEE sum1.z, left1.w, right3.z, PV.z
       w: MULADD_IEEE sum1.w, left1.w, right3.w, PV.w
       t: MULADD_IEEE sum3.y, left3.w, right3.y, sum3.y
    8  x: MULADD_IEEE sum2.x, left2.x, right0.x, sum2.x
       y: MULADD_IEEE sum2.y, left2.x, right0.y, sum2.y
       z: MULADD_IEEE sum2.z, left2.x, right0.z, sum2.z
       w: MULADD_IEEE sum2.w, left2.x, right0.w, sum2.w
       t: ADD_INT     at1.w, at1.w, 4
    9  x: MULADD_IEEE sum2.x, left2.y, right1.x, PV.x
       y: MULADD_IEEE sum2.y, left2.y, right1.y, PV.y
       z: MULADD_IEEE sum2.z, left2.y, right1.z, PV.z
       w: MULADD_IEEE sum2.w, left2.y, right1.w, PV.w
       t: MULADD_IEEE sum3.w, left3.y, right1.w, sum3.w
    10 x: MULADD_IEEE sum2.x, left2.z, right2.x, PV.x
       y: MULADD_IEEE sum2.y, left2.z, right2.y, PV.y
       z: MULADD_IEEE sum2.z, left2.z, right2.z, PV.z
       w: MULADD_IEEE sum2.w, left2.z, right2.w, PV.w
       t: MULADD_IEEE sum3.w, left3.z, right2.w, sum3.w
    11 x: MULADD_IEEE sum2.x, left2.w, right3.x, PV.x
       y: MULADD_IEEE sum2.y, left2.w, right3.y, PV.y
       z: MULADD_IEEE sum2.z, left2.w, right3.z, PV.z
       w: MULADD_IEEE sum2.w, left2.w, right3.w, PV.w
       t: MULADD_IEEE sum3.z, left3.w, right3.z, sum3.z
    12 x: MULADD_IEEE sum3.x, left3.x, right0.x, sum3.x
       y: MULADD_IEEE sum3.y, left3.x, right0.y, sum3.y
       z: MULADD_IEEE sum3.z, left3.x, right0.z, sum3.z
       w: MULADD_IEEE sum3.w, left3.x, right0.w, sum3.w
       t: ADD_INT     at3.z, at3.z, 1
    13 x: ADD_INT     at0.x, at0.x, 1
       y: MULADD_IEEE sum3.y, left3.y, right1.y, sum3.y
       z: MULADD_IEEE sum3.z, left3.z, right2.z, sum3.z
       w: MULADD_IEEE sum3.w, left3.w, right3.w, sum3.w
       t: ADD_INT     at3.x, at3.x, 4
ENDLOOP

EXPORT PIX0, sum0.xyzw
EXPORT PIX1, sum1.xyzw
EXPORT PIX2, sum2.xyzw
EXPORT PIX3, sum3.xyzw
