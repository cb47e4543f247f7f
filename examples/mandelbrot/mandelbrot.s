; The Mandelbrot set: how many steps of z = z^2 + c stay within |z| < 2, for the c of each pixel.
;
; c0  (step, step, real at i = 0, imaginary at j = 0)
; i0 (integer)  a quarter of the limit: four steps in each round
; o0  the number of steps; limit - 1 where it never left
;
; A step is two instructions. Everything about |z| and the count rides along in channels that the step leaves free:
;
;   first    RGB  t.r = c.real - z.imag^2     t.b = count            alpha  t.a = z.imag^2 - 4
;   second   RGB  z.real = z.real^2 + t.r     z.real^2 + t.a >= 0?   count = 1 + t.b
;            alpha  z.imag = 2 * (z.real * z.imag + c.imag / 2)
;
; The second is predicated: a pixel that is out (p.g) stands still until all of its wavefront are.

.equ z = r1                                    ; (z.real, c.real, count, z.imag)
.equ t = r2
.equ half_c = r3                               ; alpha: c.imag / 2

ALU z.g = MAD(r0.r, c0.r, c0.b) || half_c.a = MAD(r0.g, c0.g, c0.a) /2
ALU z.b = MOV(-1)

REP i0
    ALU t.rb = MAD(-z.aa0, z.aaa, z.ggb) || t.a = MAD(z.a, z.a, -4.0)
    ALU (!p.g) z.rb, p.g[>=0] = MAD(z.rr1, z.rr1, t.rab) || (!p.g) z.a = MAD(z.r, z.a, half_c.a) *2
    ALU t.rb = MAD(-z.aa0, z.aaa, z.ggb) || t.a = MAD(z.a, z.a, -4.0)
    ALU (!p.g) z.rb, p.g[>=0] = MAD(z.rr1, z.rr1, t.rab) || (!p.g) z.a = MAD(z.r, z.a, half_c.a) *2
    ALU t.rb = MAD(-z.aa0, z.aaa, z.ggb) || t.a = MAD(z.a, z.a, -4.0)
    ALU (!p.g) z.rb, p.g[>=0] = MAD(z.rr1, z.rr1, t.rab) || (!p.g) z.a = MAD(z.r, z.a, half_c.a) *2
    ALU t.rb = MAD(-z.aa0, z.aaa, z.ggb) || t.a = MAD(z.a, z.a, -4.0)
    ALU (!p.g) z.rb, p.g[>=0] = MAD(z.rr1, z.rr1, t.rab) || (!p.g) z.a = MAD(z.r, z.a, half_c.a) *2
    BREAK if p.g
ENDREP

OUT o0.r = MOV(z.b)
