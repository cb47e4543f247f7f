; One step of n bodies that attract each other. Each pixel moves one body.
;
; i0  positions (x, y, z, mass)       o0  positions after the step
; i1  velocities (x, y, z, 0)         o1  velocities after the step
; c0  (length of the step, softening)
; i0 (integer)  half the width of the inputs        i1 (integer)  half their height
;
; The acceleration is the sum of mass * d / (d . d + softening^2)^(3/2) over all bodies, d being the offset. Four
; bodies are taken at a time and their chains of operations interleaved, so that the RGB unit (d, its square, the sum)
; and the alpha unit (reciprocal root, its cube) both have work in almost every instruction: 18 for four bodies.

.equ step = c0.r
.equ softening = c0.g
.equ me = r1
.equ velocity = r2
.equ at = r3                                   ; (s, t, s+1, t+1): coordinates of four bodies
.equ body0 = r4
.equ body1 = r5
.equ body2 = r6
.equ body3 = r7
.equ gap0 = r8                                 ; d, and the softening in alpha
.equ gap1 = r9
.equ gap2 = r10
.equ gap3 = r11
.equ pull0 = r12                               ; alpha: what d is multiplied by
.equ pull1 = r13
.equ pull2 = r14
.equ pull3 = r15
.equ acceleration = r16                        ; temporaries are 0 at the start

TEX me = LOOKUP(i0, r0.rg) unscaled
TEX velocity = LOOKUP(i1, r0.rg) unscaled
ALU gap0.a = MOV(softening)
ALU gap1.a = MOV(softening)
ALU gap2.a = MOV(softening)
ALU gap3.a = MOV(softening)
ALU at = MOV(.0011)

REP i1
    ALU at.rb = MOV(.001)
    REP i0
        TEX body0 = LOOKUP(i0, at.rg) unscaled
        TEX body1 = LOOKUP(i0, at.bg) unscaled
        TEX body2 = LOOKUP(i0, at.ra) unscaled
        TEX body3 = LOOKUP(i0, at.ba) unscaled

        ALU gap0.rgb = ADD(body0, -me)
        ALU pull0.a = DP4(gap0, gap0)
        ALU gap1.rgb = ADD(body1, -me)                          || pull0.a = RSQ(pull0.a)
        ALU pull1.a = DP4(gap1, gap1)
        ALU pull0.r = MUL(body0.a, pull0.a)                     || pull0.a = MUL(pull0.a, pull0.a)
        ALU gap2.rgb = ADD(body2, -me)                          || pull0.a = MUL(pull0.r, pull0.a)
        ALU acceleration.rgb = MAD(gap0, pull0.a, acceleration) || pull1.a = RSQ(pull1.a)
        ALU pull2.a = DP4(gap2, gap2)
        ALU pull1.r = MUL(body1.a, pull1.a)                     || pull1.a = MUL(pull1.a, pull1.a)
        ALU gap3.rgb = ADD(body3, -me)                          || pull1.a = MUL(pull1.r, pull1.a)
        ALU acceleration.rgb = MAD(gap1, pull1.a, acceleration) || pull2.a = RSQ(pull2.a)
        ALU pull3.a = DP4(gap3, gap3)
        ALU pull2.r = MUL(body2.a, pull2.a)                     || pull2.a = MUL(pull2.a, pull2.a)
        ALU at.rb = ADD(at, 2.0)                                || pull2.a = MUL(pull2.r, pull2.a)
        ALU acceleration.rgb = MAD(gap2, pull2.a, acceleration) || pull3.a = RSQ(pull3.a)
        ALU pull3.r = MUL(body3.a, pull3.a)                     || pull3.a = MUL(pull3.a, pull3.a)
        ALU pull3.a = MUL(pull3.r, pull3.a)
        ALU acceleration.rgb = MAD(gap3, pull3.a, acceleration)
    ENDREP
    ALU at.g = ADD(at, 2.0) || at.a = ADD(at, 2.0)
ENDREP

; First the velocity, then the position with the new velocity: the semi-implicit Euler method keeps orbits closed.
ALU velocity.rgb = MAD(acceleration, step, velocity)
OUT o1 = MOV(velocity)
OUT o0.rgb = MAD(velocity, step, me) || o0.a = MOV(me)
