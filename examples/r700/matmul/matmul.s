.isa r700

; C = A * B. Each pixel computes 4 x 4 numbers of C: rows 4j to 4j+3, columns 4i to 4i+3.
;
; t0  A, [M, K/4, 4]: the element at (k/4, row) is four numbers of a row
; t1  B, [K, N/4, 4]: the element at (i, k) is four numbers of row k
; o0  to o3: row 4j of C, row 4j+1, ...
; i0  K/8
;
; Each half of a round takes four columns of A and four rows of B: 8 fetches for 64 multiply-adds, in 13 groups of five.
; The vector slots add a number of A times a row of B to a row of C; slot t adds to the last row, number by number, what
; is left over of the ports: it reads a row of B that the others read or, where PV has the sum so far, another one. Of
; the 65 slots one counts, because fetches add offsets to their coordinates.

.equ at = R0                            ; (i, 4j, k/4, k): coordinates in both
.equ left0 = R1                         ; four rows of A
.equ left1 = R2
.equ left2 = R3
.equ left3 = R4
.equ right0 = R5                        ; four rows of B
.equ right1 = R6
.equ right2 = R7
.equ right3 = R8
.equ sum0 = R9                          ; registers are 0 at the start
.equ sum1 = R10
.equ sum2 = R11
.equ sum3 = R12

FLT_TO_INT at.x, R0.x
FLT_TO_INT at.y, R0.y
0 y: LSHL_INT at.y, at.y, 2
  z: MOV      at.z, 0
  w: MOV      at.w, 0

REP i0
    LD left0.xyzw, at.zy00, t0
    LD left1.xyzw, at.zy00, t0 OFFSET(0, 1)
    LD left2.xyzw, at.zy00, t0 OFFSET(0, 2)
    LD left3.xyzw, at.zy00, t0 OFFSET(0, 3)
    LD right0.xyzw, at.xw00, t1
    LD right1.xyzw, at.xw00, t1 OFFSET(0, 1)
    LD right2.xyzw, at.xw00, t1 OFFSET(0, 2)
    LD right3.xyzw, at.xw00, t1 OFFSET(0, 3)

    0  x: MULADD_IEEE sum3.x, left3.x, right0.x, sum3.x
       y: MULADD_IEEE sum3.y, left3.x, right0.y, sum3.y
       z: MULADD_IEEE sum3.z, left3.x, right0.z, sum3.z
       w: MULADD_IEEE sum3.w, left3.x, right0.w, sum3.w
       t: ADD_INT     at.w, at.w, 8
    1  x: MULADD_IEEE sum0.x, left0.x, right0.x, sum0.x
       y: MULADD_IEEE sum0.y, left0.x, right0.y, sum0.y
       z: MULADD_IEEE sum0.z, left0.x, right0.z, sum0.z
       w: MULADD_IEEE sum0.w, left0.x, right0.w, sum0.w
       t: MULADD_IEEE sum3.y, left3.z, right2.y, PV.y
    2  x: MULADD_IEEE sum0.x, left0.y, right1.x, PV.x
       y: MULADD_IEEE sum0.y, left0.y, right1.y, PV.y
       z: MULADD_IEEE sum0.z, left0.y, right1.z, PV.z
       w: MULADD_IEEE sum0.w, left0.y, right1.w, PV.w
       t: MULADD_IEEE sum3.y, left3.y, right1.y, PS
    3  x: MULADD_IEEE sum0.x, left0.z, right2.x, PV.x
       y: MULADD_IEEE sum0.y, left0.z, right2.y, PV.y
       z: MULADD_IEEE sum0.z, left0.z, right2.z, PV.z
       w: MULADD_IEEE sum0.w, left0.z, right2.w, PV.w
       t: MULADD_IEEE sum3.y, left3.w, right3.y, PS
    4  x: MULADD_IEEE sum0.x, left0.w, right3.x, PV.x
       y: MULADD_IEEE sum0.y, left0.w, right3.y, PV.y
       z: MULADD_IEEE sum0.z, left0.w, right3.z, PV.z
       w: MULADD_IEEE sum0.w, left0.w, right3.w, PV.w
       t: MULADD_IEEE sum3.z, left3.w, right3.z, sum3.z
    5  x: MULADD_IEEE sum1.x, left1.x, right0.x, sum1.x
       y: MULADD_IEEE sum1.y, left1.x, right0.y, sum1.y
       z: MULADD_IEEE sum1.z, left1.x, right0.z, sum1.z
       w: MULADD_IEEE sum1.w, left1.x, right0.w, sum1.w
       t: MULADD_IEEE sum3.z, left3.y, right1.z, PS
    6  x: MULADD_IEEE sum1.x, left1.y, right1.x, PV.x
       y: MULADD_IEEE sum1.y, left1.y, right1.y, PV.y
       z: MULADD_IEEE sum1.z, left1.y, right1.z, PV.z
       w: MULADD_IEEE sum1.w, left1.y, right1.w, PV.w
       t: MULADD_IEEE sum3.z, left3.z, right2.z, PS
    7  x: MULADD_IEEE sum1.x, left1.z, right2.x, PV.x
       y: MULADD_IEEE sum1.y, left1.z, right2.y, PV.y
       z: MULADD_IEEE sum1.z, left1.z, right2.z, PV.z
       w: MULADD_IEEE sum1.w, left1.z, right2.w, PV.w
       t: MULADD_IEEE sum3.w, left3.z, right2.w, sum3.w
    8  x: MULADD_IEEE sum1.x, left1.w, right3.x, PV.x
       y: MULADD_IEEE sum1.y, left1.w, right3.y, PV.y
       z: MULADD_IEEE sum1.z, left1.w, right3.z, PV.z
       w: MULADD_IEEE sum1.w, left1.w, right3.w, PV.w
       t: MULADD_IEEE sum3.w, left3.w, right3.w, PS
    9  x: MULADD_IEEE sum2.x, left2.x, right0.x, sum2.x
       y: MULADD_IEEE sum2.y, left2.x, right0.y, sum2.y
       z: MULADD_IEEE sum2.z, left2.x, right0.z, sum2.z
       w: MULADD_IEEE sum2.w, left2.x, right0.w, sum2.w
       t: MULADD_IEEE sum3.w, left3.y, right1.w, PS
    10 x: MULADD_IEEE sum2.x, left2.y, right1.x, PV.x
       y: MULADD_IEEE sum2.y, left2.y, right1.y, PV.y
       z: MULADD_IEEE sum2.z, left2.y, right1.z, PV.z
       w: MULADD_IEEE sum2.w, left2.y, right1.w, PV.w
       t: MULADD_IEEE sum3.x, left3.y, right1.x, sum3.x
    11 x: MULADD_IEEE sum2.x, left2.z, right2.x, PV.x
       y: MULADD_IEEE sum2.y, left2.z, right2.y, PV.y
       z: MULADD_IEEE sum2.z, left2.z, right2.z, PV.z
       w: MULADD_IEEE sum2.w, left2.z, right2.w, PV.w
       t: MULADD_IEEE sum3.x, left3.z, right2.x, PS
    12 x: MULADD_IEEE sum2.x, left2.w, right3.x, PV.x
       y: MULADD_IEEE sum2.y, left2.w, right3.y, PV.y
       z: MULADD_IEEE sum2.z, left2.w, right3.z, PV.z
       w: MULADD_IEEE sum2.w, left2.w, right3.w, PV.w
       t: MULADD_IEEE sum3.x, left3.w, right3.x, PS

    LD left0.xyzw, at.zy00, t0 OFFSET(1, 0)
    LD left1.xyzw, at.zy00, t0 OFFSET(1, 1)
    LD left2.xyzw, at.zy00, t0 OFFSET(1, 2)
    LD left3.xyzw, at.zy00, t0 OFFSET(1, 3)
    LD right0.xyzw, at.xw00, t1 OFFSET(0, -4)
    LD right1.xyzw, at.xw00, t1 OFFSET(0, -3)
    LD right2.xyzw, at.xw00, t1 OFFSET(0, -2)
    LD right3.xyzw, at.xw00, t1 OFFSET(0, -1)

    0  x: MULADD_IEEE sum3.x, left3.x, right0.x, sum3.x
       y: MULADD_IEEE sum3.y, left3.x, right0.y, sum3.y
       z: MULADD_IEEE sum3.z, left3.x, right0.z, sum3.z
       w: MULADD_IEEE sum3.w, left3.x, right0.w, sum3.w
       t: ADD_INT     at.z, at.z, 2
    1  x: MULADD_IEEE sum0.x, left0.x, right0.x, sum0.x
       y: MULADD_IEEE sum0.y, left0.x, right0.y, sum0.y
       z: MULADD_IEEE sum0.z, left0.x, right0.z, sum0.z
       w: MULADD_IEEE sum0.w, left0.x, right0.w, sum0.w
       t: MULADD_IEEE sum3.y, left3.z, right2.y, PV.y
    2  x: MULADD_IEEE sum0.x, left0.y, right1.x, PV.x
       y: MULADD_IEEE sum0.y, left0.y, right1.y, PV.y
       z: MULADD_IEEE sum0.z, left0.y, right1.z, PV.z
       w: MULADD_IEEE sum0.w, left0.y, right1.w, PV.w
       t: MULADD_IEEE sum3.y, left3.y, right1.y, PS
    3  x: MULADD_IEEE sum0.x, left0.z, right2.x, PV.x
       y: MULADD_IEEE sum0.y, left0.z, right2.y, PV.y
       z: MULADD_IEEE sum0.z, left0.z, right2.z, PV.z
       w: MULADD_IEEE sum0.w, left0.z, right2.w, PV.w
       t: MULADD_IEEE sum3.y, left3.w, right3.y, PS
    4  x: MULADD_IEEE sum0.x, left0.w, right3.x, PV.x
       y: MULADD_IEEE sum0.y, left0.w, right3.y, PV.y
       z: MULADD_IEEE sum0.z, left0.w, right3.z, PV.z
       w: MULADD_IEEE sum0.w, left0.w, right3.w, PV.w
       t: MULADD_IEEE sum3.z, left3.w, right3.z, sum3.z
    5  x: MULADD_IEEE sum1.x, left1.x, right0.x, sum1.x
       y: MULADD_IEEE sum1.y, left1.x, right0.y, sum1.y
       z: MULADD_IEEE sum1.z, left1.x, right0.z, sum1.z
       w: MULADD_IEEE sum1.w, left1.x, right0.w, sum1.w
       t: MULADD_IEEE sum3.z, left3.y, right1.z, PS
    6  x: MULADD_IEEE sum1.x, left1.y, right1.x, PV.x
       y: MULADD_IEEE sum1.y, left1.y, right1.y, PV.y
       z: MULADD_IEEE sum1.z, left1.y, right1.z, PV.z
       w: MULADD_IEEE sum1.w, left1.y, right1.w, PV.w
       t: MULADD_IEEE sum3.z, left3.z, right2.z, PS
    7  x: MULADD_IEEE sum1.x, left1.z, right2.x, PV.x
       y: MULADD_IEEE sum1.y, left1.z, right2.y, PV.y
       z: MULADD_IEEE sum1.z, left1.z, right2.z, PV.z
       w: MULADD_IEEE sum1.w, left1.z, right2.w, PV.w
       t: MULADD_IEEE sum3.w, left3.z, right2.w, sum3.w
    8  x: MULADD_IEEE sum1.x, left1.w, right3.x, PV.x
       y: MULADD_IEEE sum1.y, left1.w, right3.y, PV.y
       z: MULADD_IEEE sum1.z, left1.w, right3.z, PV.z
       w: MULADD_IEEE sum1.w, left1.w, right3.w, PV.w
       t: MULADD_IEEE sum3.w, left3.w, right3.w, PS
    9  x: MULADD_IEEE sum2.x, left2.x, right0.x, sum2.x
       y: MULADD_IEEE sum2.y, left2.x, right0.y, sum2.y
       z: MULADD_IEEE sum2.z, left2.x, right0.z, sum2.z
       w: MULADD_IEEE sum2.w, left2.x, right0.w, sum2.w
       t: MULADD_IEEE sum3.w, left3.y, right1.w, PS
    10 x: MULADD_IEEE sum2.x, left2.y, right1.x, PV.x
       y: MULADD_IEEE sum2.y, left2.y, right1.y, PV.y
       z: MULADD_IEEE sum2.z, left2.y, right1.z, PV.z
       w: MULADD_IEEE sum2.w, left2.y, right1.w, PV.w
       t: MULADD_IEEE sum3.x, left3.y, right1.x, sum3.x
    11 x: MULADD_IEEE sum2.x, left2.z, right2.x, PV.x
       y: MULADD_IEEE sum2.y, left2.z, right2.y, PV.y
       z: MULADD_IEEE sum2.z, left2.z, right2.z, PV.z
       w: MULADD_IEEE sum2.w, left2.z, right2.w, PV.w
       t: MULADD_IEEE sum3.x, left3.z, right2.x, PS
    12 x: MULADD_IEEE sum2.x, left2.w, right3.x, PV.x
       y: MULADD_IEEE sum2.y, left2.w, right3.y, PV.y
       z: MULADD_IEEE sum2.z, left2.w, right3.z, PV.z
       w: MULADD_IEEE sum2.w, left2.w, right3.w, PV.w
       t: MULADD_IEEE sum3.x, left3.w, right3.x, PS
ENDLOOP

EXPORT PIX0, sum0.xyzw
EXPORT PIX1, sum1.xyzw
EXPORT PIX2, sum2.xyzw
EXPORT PIX3, sum3.xyzw
