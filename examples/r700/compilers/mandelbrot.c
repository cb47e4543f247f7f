#include "rv770.h"
KERNEL {
    f4 view = rv_const(0);
    float cx = view.x + (r0.x + 0.5f - view.z) * view.w, cy = view.y + (r0.y + 0.5f - view.z) * view.w;
    float x = 0, y = 0, n = 0;
    for (int i = 0; i < 64; i++) {
        if (x * x + y * y > 4.0f) break;
        float t = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = t;
        n += 1.0f;
    }
    rv_out(0, ((f4){n, x, y, 1.0f}));
}
