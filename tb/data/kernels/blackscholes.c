#include <ctm/kernel.h>

static float cumulative(float d) {
    float k = 1.0f / (1.0f + 0.2316419f * abs(d));
    float p = k * (0.319381530f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    float tail = 0.39894228f * exp2(-0.72134752f * d * d) * p;
    return d > 0 ? 1.0f - tail : tail;
}

kernel void blackscholes(vec2 pixel) {
    vec4 option = texel(0, pixel);
    float stock = option.x, strike = option.y, time = option.z, volatility = option.w, rate = constant(0).x;
    float deviation = volatility * sqrt(time);
    float d1 = (log2(stock / strike) * 0.69314718f + (rate + 0.5f * volatility * volatility) * time) / deviation;
    float d2 = d1 - deviation, discount = strike * exp2(-rate * time * 1.44269504f);
    float call = stock * cumulative(d1) - discount * cumulative(d2);
    output(0, vec4(call, call - stock + discount, d1, d2));
}
