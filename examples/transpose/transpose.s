; Transposes a matrix: each pixel moves the number at (i, j) to (j, i).
;
; An ordinary output goes to the pixel's own element. Here every pixel says where its value goes: an uncached
; write takes the 32-bit value from R and the position (x, y) from G and B.
;
; i0  the matrix        o0  its transpose, FLOAT32_1

.uncached_writes

.equ packet = r1                               ; (value, x, y, 0)

TEX packet.r = LOOKUP(i0, r0.rg) unscaled
ALU packet.gb = MOV(r0.ggr)                    ; x = j, y = i
OUT umrt[per_processor_idx] = MOV(packet)
