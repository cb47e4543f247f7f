.isa r700
.stage ps
; R0 is the normal. C0 points to the light, C1 halfway between light and eye; C2 is the colour, C3 that of the shade.
.pack
MUL R1.x, R0.x, R0.x
MULADD R1.x, R0.y, R0.y, R1.x
MULADD R1.x, R0.z, R0.z, R1.x
RECIPSQRT_IEEE R1.x, R1.x
MUL R0.x, R0.x, R1.x
MUL R0.y, R0.y, R1.x
MUL R0.z, R0.z, R1.x
MUL R2.x, R0.x, C0.x
MULADD R2.x, R0.y, C0.y, R2.x
MULADD R2.x, R0.z, C0.z, R2.x
MAX R2.x, R2.x, 0
MUL R2.y, R0.x, C1.x
MULADD R2.y, R0.y, C1.y, R2.y
MULADD R2.y, R0.z, C1.z, R2.y
MAX R2.y, R2.y, 0
MUL R2.y, R2.y, R2.y
MUL R2.y, R2.y, R2.y
MUL R2.y, R2.y, R2.y
MUL R2.y, R2.y, R2.y
MUL R2.y, R2.y, R2.y
MULADD R3.x, R2.x, C2.x, C3.x
MULADD R3.y, R2.x, C2.y, C3.y
MULADD R3.z, R2.x, C2.z, C3.z
MULADD R3.x, R2.y, 0.6, R3.x
MULADD R3.y, R2.y, 0.6, R3.y
MULADD R3.z, R2.y, 0.6, R3.z
.endpack
EXPORT_DONE PIX0, R3.xyz1
