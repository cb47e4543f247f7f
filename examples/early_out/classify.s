; First pass: which points need the long program? The two largest regions of the Mandelbrot set are known by a formula.
;
; c0  (step, step, real at i = 0, imaginary at j = 0)
; w   the conditional value: 0 inside the two regions, 1 where the steps have to be computed
;
; Inside the cardioid q (q + u) <= y^2 / 4 with u = x - 1/4 and q = u^2 + y^2; inside the disc (x + 1)^2 + y^2 <= 1/16.

.equ c = r1                                    ; (x, y, u, x + 1)
.equ q = r2                                    ; (q, q + u, y^2 / 4)
.equ depth = r3                                ; (cardioid, disc): inside where it is not negative

ALU c.rg = MAD(r0, c0, c0.bab)
ALU c.b = ADD(c.r, -0.25) || c.a = ADD(c.r, 1)

ALU q.r = D2A(c.bgg, c.bgg, 0)
ALU q.g = ADD(q.r, c.b)
ALU q.b = MUL(c.g, c.g) /4
ALU depth.r = MAD(-q.r, q.g, q.b)
ALU depth.g = D2A(c.agg, -c.agg, 0.0625)

ALU depth.r = MAX(depth.r, depth.g)
OUT w = CMP(0, 1, depth.r)
