.isa r700

; SHA-256 of messages of one block: each pixel hashes the 16 words of its own block, padding included.
;
; t0  the blocks, [height, 4 * width, 4]: pixel (i, j) has the elements 4i to 4i + 3 of row j
; C0 to C15  the round constants
; i0  (16, 0, 1): rounds of four, aL counts them
; o0, o1  the hash, eight words
;
; A word is an integer in the bits of a float: fetches, moves and outputs pass them on. There is no rotation, so one is
; two shifts and, as they have no bit in common, an exclusive OR like those around them. The operations stand one a line
; and in the order in which they are meant; .pack makes groups of up to five of them.

.equ abcd = R1
.equ efgh = R2
.equ at = R3
.equ w0 = R4                            ; the next sixteen words of the message schedule
.equ w1 = R5
.equ w2 = R6
.equ w3 = R7
.equ e0 = R8
.equ e1 = R9
.equ m0 = R10
.equ m1 = R11
.equ one = R12
.equ two = R13
.equ choice = R14

FLT_TO_INT at.x, R0.x
FLT_TO_INT at.y, R0.y
LSHL_INT at.x, at.x, 2
0 y: ADD_INT R15.y, at.x, 1
  z: ADD_INT R15.z, at.x, 2
  w: ADD_INT R15.w, at.x, 3
MOV R15.x, at.y
LD w0.xyzw, at.xy00, t0
LD w1.xyzw, R15.yx00, t0
LD w2.xyzw, R15.zx00, t0
LD w3.xyzw, R15.wx00, t0

0 x: MOV abcd.x, 0x6a09e667
  y: MOV abcd.y, 0xbb67ae85
  z: MOV abcd.z, 0x3c6ef372
  w: MOV abcd.w, 0xa54ff53a
0 x: MOV efgh.x, 0x510e527f
  y: MOV efgh.y, 0x9b05688c
  z: MOV efgh.z, 0x1f83d9ab
  w: MOV efgh.w, 0x5be0cd19

LOOP i0                                ; four rounds
.pack
    ; round 0: a is abcd.x, e is efgh.x
    LSHR_INT e0.x, efgh.x, 6
    LSHR_INT e0.y, efgh.x, 11
    LSHR_INT e0.z, efgh.x, 25
    LSHL_INT e1.x, efgh.x, 26
    LSHL_INT e1.y, efgh.x, 21
    LSHL_INT e1.z, efgh.x, 7
    XOR_INT  e0.x, e0.x, e0.y
    XOR_INT  e1.x, e1.x, e1.y
    XOR_INT  e0.z, e0.z, e1.z
    XOR_INT  e0.x, e0.x, e1.x
    XOR_INT  e0.w, e0.x, e0.z
    XOR_INT  choice.w, efgh.y, efgh.z
    AND_INT  choice.w, choice.w, efgh.x
    XOR_INT  choice.w, choice.w, efgh.z
    ADD_INT  one.x, efgh.w, C[0+aL].x
    ADD_INT  one.y, w0.x, choice.w
    ADD_INT  one.x, one.x, one.y
    ADD_INT  one.x, one.x, e0.w
    LSHR_INT m0.x, abcd.x, 2
    LSHR_INT m0.y, abcd.x, 13
    LSHR_INT m0.z, abcd.x, 22
    LSHL_INT m1.x, abcd.x, 30
    LSHL_INT m1.y, abcd.x, 19
    LSHL_INT m1.z, abcd.x, 10
    XOR_INT  m0.x, m0.x, m0.y
    XOR_INT  m1.x, m1.x, m1.y
    XOR_INT  m0.z, m0.z, m1.z
    XOR_INT  m0.x, m0.x, m1.x
    XOR_INT  m0.w, m0.x, m0.z
    OR_INT   two.y, abcd.x, abcd.y
    AND_INT  two.y, two.y, abcd.z
    AND_INT  two.z, abcd.x, abcd.y
    OR_INT   two.y, two.y, two.z
    ADD_INT  two.y, two.y, m0.w
    ADD_INT  abcd.w, abcd.w, one.x
    ADD_INT  efgh.w, one.x, two.y
    ; round 1: a is efgh.w, e is abcd.w
    LSHR_INT e0.x, abcd.w, 6
    LSHR_INT e0.y, abcd.w, 11
    LSHR_INT e0.z, abcd.w, 25
    LSHL_INT e1.x, abcd.w, 26
    LSHL_INT e1.y, abcd.w, 21
    LSHL_INT e1.z, abcd.w, 7
    XOR_INT  e0.x, e0.x, e0.y
    XOR_INT  e1.x, e1.x, e1.y
    XOR_INT  e0.z, e0.z, e1.z
    XOR_INT  e0.x, e0.x, e1.x
    XOR_INT  e0.w, e0.x, e0.z
    XOR_INT  choice.w, efgh.x, efgh.y
    AND_INT  choice.w, choice.w, abcd.w
    XOR_INT  choice.w, choice.w, efgh.y
    ADD_INT  one.x, efgh.z, C[0+aL].y
    ADD_INT  one.y, w0.y, choice.w
    ADD_INT  one.x, one.x, one.y
    ADD_INT  one.x, one.x, e0.w
    LSHR_INT m0.x, efgh.w, 2
    LSHR_INT m0.y, efgh.w, 13
    LSHR_INT m0.z, efgh.w, 22
    LSHL_INT m1.x, efgh.w, 30
    LSHL_INT m1.y, efgh.w, 19
    LSHL_INT m1.z, efgh.w, 10
    XOR_INT  m0.x, m0.x, m0.y
    XOR_INT  m1.x, m1.x, m1.y
    XOR_INT  m0.z, m0.z, m1.z
    XOR_INT  m0.x, m0.x, m1.x
    XOR_INT  m0.w, m0.x, m0.z
    OR_INT   two.y, efgh.w, abcd.x
    AND_INT  two.y, two.y, abcd.y
    AND_INT  two.z, efgh.w, abcd.x
    OR_INT   two.y, two.y, two.z
    ADD_INT  two.y, two.y, m0.w
    ADD_INT  abcd.z, abcd.z, one.x
    ADD_INT  efgh.z, one.x, two.y
    ; round 2: a is efgh.z, e is abcd.z
    LSHR_INT e0.x, abcd.z, 6
    LSHR_INT e0.y, abcd.z, 11
    LSHR_INT e0.z, abcd.z, 25
    LSHL_INT e1.x, abcd.z, 26
    LSHL_INT e1.y, abcd.z, 21
    LSHL_INT e1.z, abcd.z, 7
    XOR_INT  e0.x, e0.x, e0.y
    XOR_INT  e1.x, e1.x, e1.y
    XOR_INT  e0.z, e0.z, e1.z
    XOR_INT  e0.x, e0.x, e1.x
    XOR_INT  e0.w, e0.x, e0.z
    XOR_INT  choice.w, abcd.w, efgh.x
    AND_INT  choice.w, choice.w, abcd.z
    XOR_INT  choice.w, choice.w, efgh.x
    ADD_INT  one.x, efgh.y, C[0+aL].z
    ADD_INT  one.y, w0.z, choice.w
    ADD_INT  one.x, one.x, one.y
    ADD_INT  one.x, one.x, e0.w
    LSHR_INT m0.x, efgh.z, 2
    LSHR_INT m0.y, efgh.z, 13
    LSHR_INT m0.z, efgh.z, 22
    LSHL_INT m1.x, efgh.z, 30
    LSHL_INT m1.y, efgh.z, 19
    LSHL_INT m1.z, efgh.z, 10
    XOR_INT  m0.x, m0.x, m0.y
    XOR_INT  m1.x, m1.x, m1.y
    XOR_INT  m0.z, m0.z, m1.z
    XOR_INT  m0.x, m0.x, m1.x
    XOR_INT  m0.w, m0.x, m0.z
    OR_INT   two.y, efgh.z, efgh.w
    AND_INT  two.y, two.y, abcd.x
    AND_INT  two.z, efgh.z, efgh.w
    OR_INT   two.y, two.y, two.z
    ADD_INT  two.y, two.y, m0.w
    ADD_INT  abcd.y, abcd.y, one.x
    ADD_INT  efgh.y, one.x, two.y
    ; round 3: a is efgh.y, e is abcd.y
    LSHR_INT e0.x, abcd.y, 6
    LSHR_INT e0.y, abcd.y, 11
    LSHR_INT e0.z, abcd.y, 25
    LSHL_INT e1.x, abcd.y, 26
    LSHL_INT e1.y, abcd.y, 21
    LSHL_INT e1.z, abcd.y, 7
    XOR_INT  e0.x, e0.x, e0.y
    XOR_INT  e1.x, e1.x, e1.y
    XOR_INT  e0.z, e0.z, e1.z
    XOR_INT  e0.x, e0.x, e1.x
    XOR_INT  e0.w, e0.x, e0.z
    XOR_INT  choice.w, abcd.z, abcd.w
    AND_INT  choice.w, choice.w, abcd.y
    XOR_INT  choice.w, choice.w, abcd.w
    ADD_INT  one.x, efgh.x, C[0+aL].w
    ADD_INT  one.y, w0.w, choice.w
    ADD_INT  one.x, one.x, one.y
    ADD_INT  one.x, one.x, e0.w
    LSHR_INT m0.x, efgh.y, 2
    LSHR_INT m0.y, efgh.y, 13
    LSHR_INT m0.z, efgh.y, 22
    LSHL_INT m1.x, efgh.y, 30
    LSHL_INT m1.y, efgh.y, 19
    LSHL_INT m1.z, efgh.y, 10
    XOR_INT  m0.x, m0.x, m0.y
    XOR_INT  m1.x, m1.x, m1.y
    XOR_INT  m0.z, m0.z, m1.z
    XOR_INT  m0.x, m0.x, m1.x
    XOR_INT  m0.w, m0.x, m0.z
    OR_INT   two.y, efgh.y, efgh.z
    AND_INT  two.y, two.y, efgh.w
    AND_INT  two.z, efgh.y, efgh.z
    OR_INT   two.y, two.y, two.z
    ADD_INT  two.y, two.y, m0.w
    ADD_INT  abcd.x, abcd.x, one.x
    ADD_INT  efgh.x, one.x, two.y
    ; four more words of the message
    LSHR_INT e0.x, w0.y, 7
    LSHR_INT e0.y, w0.z, 7
    LSHR_INT e0.z, w0.w, 7
    LSHR_INT e0.w, w1.x, 7
    LSHL_INT e1.x, w0.y, 25
    LSHL_INT e1.y, w0.z, 25
    LSHL_INT e1.z, w0.w, 25
    LSHL_INT e1.w, w1.x, 25
    XOR_INT  e0.x, e0.x, e1.x
    XOR_INT  e0.y, e0.y, e1.y
    XOR_INT  e0.z, e0.z, e1.z
    XOR_INT  e0.w, e0.w, e1.w
    LSHR_INT e1.x, w0.y, 18
    LSHR_INT e1.y, w0.z, 18
    LSHR_INT e1.z, w0.w, 18
    LSHR_INT e1.w, w1.x, 18
    XOR_INT  e0.x, e0.x, e1.x
    XOR_INT  e0.y, e0.y, e1.y
    XOR_INT  e0.z, e0.z, e1.z
    XOR_INT  e0.w, e0.w, e1.w
    LSHL_INT e1.x, w0.y, 14
    LSHL_INT e1.y, w0.z, 14
    LSHL_INT e1.z, w0.w, 14
    LSHL_INT e1.w, w1.x, 14
    XOR_INT  e0.x, e0.x, e1.x
    XOR_INT  e0.y, e0.y, e1.y
    XOR_INT  e0.z, e0.z, e1.z
    XOR_INT  e0.w, e0.w, e1.w
    LSHR_INT e1.x, w0.y, 3
    LSHR_INT e1.y, w0.z, 3
    LSHR_INT e1.z, w0.w, 3
    LSHR_INT e1.w, w1.x, 3
    XOR_INT  e0.x, e0.x, e1.x
    XOR_INT  e0.y, e0.y, e1.y
    XOR_INT  e0.z, e0.z, e1.z
    XOR_INT  e0.w, e0.w, e1.w
    ADD_INT  m0.x, w0.x, w2.y
    ADD_INT  m0.y, w0.y, w2.z
    ADD_INT  m0.z, w0.z, w2.w
    ADD_INT  m0.w, w0.w, w3.x
    ADD_INT  m0.x, m0.x, e0.x
    ADD_INT  m0.y, m0.y, e0.y
    ADD_INT  m0.z, m0.z, e0.z
    ADD_INT  m0.w, m0.w, e0.w
    LSHR_INT e0.x, w3.z, 17
    LSHR_INT e0.y, w3.w, 17
    LSHL_INT e1.x, w3.z, 15
    LSHL_INT e1.y, w3.w, 15
    XOR_INT  e0.x, e0.x, e1.x
    XOR_INT  e0.y, e0.y, e1.y
    LSHR_INT e1.x, w3.z, 19
    LSHR_INT e1.y, w3.w, 19
    XOR_INT  e0.x, e0.x, e1.x
    XOR_INT  e0.y, e0.y, e1.y
    LSHL_INT e1.x, w3.z, 13
    LSHL_INT e1.y, w3.w, 13
    XOR_INT  e0.x, e0.x, e1.x
    XOR_INT  e0.y, e0.y, e1.y
    LSHR_INT e1.x, w3.z, 10
    LSHR_INT e1.y, w3.w, 10
    XOR_INT  e0.x, e0.x, e1.x
    XOR_INT  e0.y, e0.y, e1.y
    ADD_INT  m0.x, m0.x, e0.x
    ADD_INT  m0.y, m0.y, e0.y
    LSHR_INT e0.z, m0.x, 17
    LSHR_INT e0.w, m0.y, 17
    LSHL_INT e1.z, m0.x, 15
    LSHL_INT e1.w, m0.y, 15
    XOR_INT  e0.z, e0.z, e1.z
    XOR_INT  e0.w, e0.w, e1.w
    LSHR_INT e1.z, m0.x, 19
    LSHR_INT e1.w, m0.y, 19
    XOR_INT  e0.z, e0.z, e1.z
    XOR_INT  e0.w, e0.w, e1.w
    LSHL_INT e1.z, m0.x, 13
    LSHL_INT e1.w, m0.y, 13
    XOR_INT  e0.z, e0.z, e1.z
    XOR_INT  e0.w, e0.w, e1.w
    LSHR_INT e1.z, m0.x, 10
    LSHR_INT e1.w, m0.y, 10
    XOR_INT  e0.z, e0.z, e1.z
    XOR_INT  e0.w, e0.w, e1.w
    ADD_INT  m0.z, m0.z, e0.z
    ADD_INT  m0.w, m0.w, e0.w
    MOV      w0.x, w1.x
    MOV      w0.y, w1.y
    MOV      w0.z, w1.z
    MOV      w0.w, w1.w
    MOV      w1.x, w2.x
    MOV      w1.y, w2.y
    MOV      w1.z, w2.z
    MOV      w1.w, w2.w
    MOV      w2.x, w3.x
    MOV      w2.y, w3.y
    MOV      w2.z, w3.z
    MOV      w2.w, w3.w
    MOV      w3.x, m0.x
    MOV      w3.y, m0.y
    MOV      w3.z, m0.z
    MOV      w3.w, m0.w
    ; four rounds on, the names are back but for the two halves
    MOV      e0.x, abcd.x
    MOV      e0.y, abcd.y
    MOV      e0.z, abcd.z
    MOV      e0.w, abcd.w
    MOV      abcd.x, efgh.x
    MOV      abcd.y, efgh.y
    MOV      abcd.z, efgh.z
    MOV      abcd.w, efgh.w
    MOV      efgh.x, e0.x
    MOV      efgh.y, e0.y
    MOV      efgh.z, e0.z
    MOV      efgh.w, e0.w
.endpack
ENDLOOP

0 x: ADD_INT abcd.x, abcd.x, 0x6a09e667
  y: ADD_INT abcd.y, abcd.y, 0xbb67ae85
  z: ADD_INT abcd.z, abcd.z, 0x3c6ef372
  w: ADD_INT abcd.w, abcd.w, 0xa54ff53a
0 x: ADD_INT efgh.x, efgh.x, 0x510e527f
  y: ADD_INT efgh.y, efgh.y, 0x9b05688c
  z: ADD_INT efgh.z, efgh.z, 0x1f83d9ab
  w: ADD_INT efgh.w, efgh.w, 0x5be0cd19

EXPORT PIX0, abcd.xyzw
EXPORT PIX1, efgh.xyzw
