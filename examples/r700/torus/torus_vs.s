.isa r700
.stage vs
; Position and normal of a vertex. C0 to C3 are the rows of the matrix to clip space, C4 to C6 those of the rotation.
FETCH R1, R0.x, b160 FORMAT(FLOAT32_3)
FETCH R2, R0.x, b160 OFFSET(12) FORMAT(FLOAT32_3)
.pack
MULADD R3.x, R1.x, C0.x, C0.w
MULADD R3.y, R1.x, C1.x, C1.w
MULADD R3.z, R1.x, C2.x, C2.w
MULADD R3.w, R1.x, C3.x, C3.w
MULADD R3.x, R1.y, C0.y, R3.x
MULADD R3.y, R1.y, C1.y, R3.y
MULADD R3.z, R1.y, C2.y, R3.z
MULADD R3.w, R1.y, C3.y, R3.w
MULADD R3.x, R1.z, C0.z, R3.x
MULADD R3.y, R1.z, C1.z, R3.y
MULADD R3.z, R1.z, C2.z, R3.z
MULADD R3.w, R1.z, C3.z, R3.w
MUL R4.x, R2.x, C4.x
MUL R4.y, R2.x, C5.x
MUL R4.z, R2.x, C6.x
MULADD R4.x, R2.y, C4.y, R4.x
MULADD R4.y, R2.y, C5.y, R4.y
MULADD R4.z, R2.y, C6.y, R4.z
MULADD R4.x, R2.z, C4.z, R4.x
MULADD R4.y, R2.z, C5.z, R4.y
MULADD R4.z, R2.z, C6.z, R4.z
.endpack
EXPORT_DONE POS60, R3
EXPORT_DONE PARAM0, R4.xyz0
