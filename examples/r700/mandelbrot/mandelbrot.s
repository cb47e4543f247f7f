.isa r700

; The Mandelbrot set: how many steps of z = z^2 + c stay within |z| < 2, for the c of each pixel.
;
; C0  (step, step, real at i = 0, imaginary at j = 0)
; i0  a quarter of the limit: four steps in each round
; o0  the number of steps; limit - 1 where it never left
;
; R1  (z.real, |z|^2 of the step before, z.imag, count)      R2  (c.real, c.imag)
;
; A step is two groups. The second has z and |z|^2 of the step before; the first of the next step compares that with 4,
; and its second counts: a mask is -1. So the count begins at -1 and is one step less. A pixel that left grows until
; it is infinite and then no number, and is never counted again; it leaves the loop at the end of a round.

0 x: MULADD_IEEE R2.x, R0.x, C0.x, C0.z
  y: MULADD_IEEE R2.y, R0.y, C0.y, C0.w
MOV R1.w, -1

REP i0
    0  x: MULADD_IEEE R3.x, -R1.z, R1.z, R2.x
       y: MUL_IEEE    ____, R1.z, R1.z
       z: ADD         ____, R1.x, R1.x
       w: SETGT_DX10  ____, 4.0, R1.y
    1  x: MULADD_IEEE R1.x, R1.x, R1.x, PV.x
       y: MULADD_IEEE R1.y, R1.x, R1.x, PV.y
       z: MULADD_IEEE R1.z, PV.z, R1.z, R2.y
       w: SUB_INT     R1.w, R1.w, PV.w
    2  x: MULADD_IEEE R3.x, -R1.z, R1.z, R2.x
       y: MUL_IEEE    ____, R1.z, R1.z
       z: ADD         ____, R1.x, R1.x
       w: SETGT_DX10  ____, 4.0, PV.y
    3  x: MULADD_IEEE R1.x, R1.x, R1.x, PV.x
       y: MULADD_IEEE R1.y, R1.x, R1.x, PV.y
       z: MULADD_IEEE R1.z, PV.z, R1.z, R2.y
       w: SUB_INT     R1.w, R1.w, PV.w
    4  x: MULADD_IEEE R3.x, -R1.z, R1.z, R2.x
       y: MUL_IEEE    ____, R1.z, R1.z
       z: ADD         ____, R1.x, R1.x
       w: SETGT_DX10  ____, 4.0, PV.y
    5  x: MULADD_IEEE R1.x, R1.x, R1.x, PV.x
       y: MULADD_IEEE R1.y, R1.x, R1.x, PV.y
       z: MULADD_IEEE R1.z, PV.z, R1.z, R2.y
       w: SUB_INT     R1.w, R1.w, PV.w
    6  x: MULADD_IEEE R3.x, -R1.z, R1.z, R2.x
       y: MUL_IEEE    ____, R1.z, R1.z
       z: ADD         ____, R1.x, R1.x
       w: SETGT_DX10  ____, 4.0, PV.y
    7  x: MULADD_IEEE R1.x, R1.x, R1.x, PV.x
       y: MULADD_IEEE R1.y, R1.x, R1.x, PV.y
       z: MULADD_IEEE R1.z, PV.z, R1.z, R2.y
       w: SUB_INT     R1.w, R1.w, PV.w
    8  x: SETGT_DX10  R3.x, 4.0, R1.y
    BREAK IF PRED_SETE_INT R3.x, 0
ENDLOOP

INT_TO_FLT R1.x, R1.w
EXPORT PIX0, R1.x___
