/* Prices of European options by the formula of Black and Scholes, as blackscholes.s.
 *
 * Input 0: (price, strike, years, volatility); output 0: (call, put); constant 0: (interest rate, 0, 0, 0). */
#include <ctm/kernel.h>

/* The normal distribution's tail beyond |d| (Abramowitz and Stegun 26.2.17). */
static float tail(float d) {
    float k = 1 / (1 + 0.2316419f * abs(d));
    float p = k * (0.319381530f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    return exp(-0.5f * d * d) * 0.39894228f * p;
}

static float normal(float d) { return d < 0 ? tail(d) : 1 - tail(d); }

kernel void blackscholes(vec2 pixel) {
    vec4 option = texel(0, pixel);
    float price = option.x, strike = option.y, years = option.z, volatility = option.w, rate = constant(0).x;
    float deviation = volatility * years * inversesqrt(years);
    float d1 = (log(price / strike) + (rate + 0.5f * volatility * volatility) * years) / deviation;
    float d2 = d1 - deviation, discounted = strike * exp(-rate * years);
    float call = price * normal(d1) - discounted * normal(d2);
    float put = discounted * normal(-d2) - price * normal(-d1);
    output(0, vec2(call, put));
}
