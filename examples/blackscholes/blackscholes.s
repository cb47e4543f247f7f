; Prices of European options by the formula of Black and Scholes; each pixel prices one option as call and as put.
;
; i0  (price S, strike K, years T, volatility v)       o0  (call, put)
; c0  (interest rate, 0.2316419, log2(e) / 2, ln(2))   c1  (a1, a2, a3, a4)   c2  (a5, -log2(e))
;
;     d1 = (ln(S/K) + (rate + v^2/2) T) / (v sqrt(T))      d2 = d1 - v sqrt(T)
;     call = S N(d1) - K e^(-rate T) N(d2)                 put = K e^(-rate T) N(-d2) - S N(-d1)
;
; N is the normal distribution. Its tail beyond |d| is e^(-d^2/2) times a polynomial in 1 / (1 + 0.2316419 |d|), good
; to 7.5e-8 (Abramowitz and Stegun 26.2.17; the a's here are divided by sqrt(2 pi)). d1 and d2 go through it side by
; side, in R and G. The transcendental operations are those of the alpha unit; SOP gives their results to RGB.

.equ option = r1
.equ root = r2                                 ; alpha: v sqrt(T)
.equ d = r3                                    ; (d1, d2)
.equ k = r4
.equ tail = r5                                 ; N(-|d1|), N(-|d2|)
.equ gauss = r6
.equ upper = r7                                ; N(d1),  N(d2)
.equ lower = r8                                ; N(-d1), N(-d2)
.equ discounted = r9                           ; alpha: K e^(-rate T)

TEX option = LOOKUP(i0, r0.rg) unscaled

; v sqrt(T) and 1 / (v sqrt(T))
ALU root.a = RSQ(option.b)
ALU root.a = MUL(root.a, option.b)
ALU root.a = MUL(root.a, option.a)
ALU gauss.a = RCP(root.a)

; d1 and d2
ALU d.a = RCP(option.g)
ALU d.a = MUL(d.a, option.r)
ALU d.a = LN2(d.a)
ALU d.b = MUL(option.a, option.a) /2
ALU d.b = ADD(d.b, c0.r)
ALU d.b = MUL(d.b, option.b)
ALU d.b = MAD(d.a, c0.a, d.b)
ALU d.r = MUL(d.b, gauss.a)
ALU d.g = ADD(d.r, -root.a)

; 1 / (1 + 0.2316419 |d|)
ALU k.rg = MAD(|d|, c0.g, 1)
ALU k.r = RCP(k.r)
ALU k.g = RCP(k.g)

; e^(-d^2/2) = 2^(-d^2 log2(e) / 2)
ALU gauss.rg = MUL(d, d)
ALU gauss.rg = MUL(gauss, -c0.b)
ALU gauss.r = EX2(gauss.r)
ALU gauss.g = EX2(gauss.g)

ALU tail.rg = MAD(k, c2.r, c1.a)
ALU tail.rg = MAD(k, tail, c1.b)
ALU tail.rg = MAD(k, tail, c1.g)
ALU tail.rg = MAD(k, tail, c1.r)
ALU tail.rg = MUL(k, tail)
ALU tail.rg = MUL(gauss, tail)

ALU upper.rg = CMP((1 - tail), tail, d)
ALU lower.rg = CMP(tail, (1 - tail), d)

; K e^(-rate T)
ALU discounted.a = MUL(option.b, c0.r)
ALU discounted.a = MUL(discounted.a, c2.g)
ALU discounted.a = EX2(discounted.a)
ALU discounted.a = MUL(discounted.a, option.g)

ALU upper.g = MUL(upper.g, discounted.a)
ALU lower.r = MUL(lower.r, option.r)
OUT o0.r = MAD(option.r, upper.r, -upper.g)
OUT o0.g = MAD(discounted.a, lower.g, -lower.r)
