.isa r700

; y = a * x + y, four numbers a pixel. C0.x is a.

FLT_TO_INT R0.x, R0.x                   ; R0 is (i, j, 0, 1): fetches by number want integers
FLT_TO_INT R0.y, R0.y

LD R1.xyzw, R0.xy00, t0
LD R2.xyzw, R0.xy00, t1

x: MULADD_IEEE R1.x, R1.x, C0.x, R2.x   ; one group: four products, each rounded, then four sums
y: MULADD_IEEE R1.y, R1.y, C0.x, R2.y
z: MULADD_IEEE R1.z, R1.z, C0.x, R2.z
w: MULADD_IEEE R1.w, R1.w, C0.x, R2.w

EXPORT PIX0, R1.xyzw
