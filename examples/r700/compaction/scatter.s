.isa r700
.memory

; Writes the numbers of a pixel that are kept, those above C0.x, after those of the pixels before it.
;
; t0  the numbers, [height, 4 * width, 4]: pixel (i, j) has the elements 4i to 4i + 3 of row j
; t1  how many are kept by this pixel and those before it; t2  how many by this one: integers in the bits of floats
; i0  (4, 0, 1)
; o0  what is kept, one after the other

.equ at = R1                            ; (4i, j)
.equ index = R4                         ; where the next one goes

FLT_TO_INT R0.x, R0.x
FLT_TO_INT R0.y, R0.y
0 x: LSHL_INT at.x, R0.x, 2
  y: MOV      at.y, R0.y

LD R3.x___, R0.xy00, t1
LD R3._x__, R0.xy00, t2
SUB_INT index.x, R3.x, R3.y

REP i0
    LD R2.xyzw, at.xy00, t0
    IF PRED_SETGT R2.x, C0.x
        MOV R5.x, R2.x
        MEM_EXPORT R5.x___, [0+R4]
        ADD_INT R4.x, R4.x, 1
    ENDIF
    IF PRED_SETGT R2.y, C0.x
        MOV R5.x, R2.y
        MEM_EXPORT R5.x___, [0+R4]
        ADD_INT R4.x, R4.x, 1
    ENDIF
    IF PRED_SETGT R2.z, C0.x
        MOV R5.x, R2.z
        MEM_EXPORT R5.x___, [0+R4]
        ADD_INT R4.x, R4.x, 1
    ENDIF
    IF PRED_SETGT R2.w, C0.x
        MOV R5.x, R2.w
        MEM_EXPORT R5.x___, [0+R4]
        ADD_INT R4.x, R4.x, 1
    ENDIF
    ADD_INT at.x, at.x, 1
ENDLOOP
