-- Limits and polynomials of the functions of vecmath.lua, by the type computed in.
--   mantissa   how many of its bits are stored
--   magic      added to a small number, rounds it to a whole one, in the lowest bits of the sum;
--              as bits it has zeros wherever those go when shifted into the exponent's place,
--              and half of it has, too
--   tiny       the smallest normal number
--   ln2        in two parts: the first times a whole number of the exponent's range is exact
--   half_turn  pi / 2: its nearest number and the rest
--   per_e      by base, the logarithm of e in two parts; per_two: that of 2, the first as in ln2
--   *_range    beyond it the function has the same value as at its end
--
-- The polynomials are Sollya's, or by Remez' exchange in mpmath (remez(f(x), degree, range, weight)), rounded to the
-- compute type, lowest power first. Above each stand the command that makes it and the largest error that it leaves,
-- relative to the result.

local coefficients = {
  f32 = {
    mantissa = 23,
    bias = 127,
    sign = 1 << 31,
    top = 31,
    sqrt_half = 0x3f3504f3, -- as bits
    magic = 0x1.8p23,
    tiny = 0x1p-126,
    ln2 = { 0x1.62e4p-1, 0x1.7f7d1cp-20 },
    exp_range = { -176, 89 },
    expm1_range = { -30, 89 },
    exp2_range = { -254, 129 },
    tanh_limit = 9.5,
    sinh_limit = 89.45,
    half_turn = { 0x1.921fb6p0, -0x1.777a5cf72cecep-25 },
    per_e = {
      log2 = { 1, 0x1.c551d94ae0bf8p-2 },
      log10 = { 0x1.bcb7b2p-2, -0x1.5b235e39ab2a9p-27 },
    },
    per_two = { log2 = { 1 }, log10 = { 0x1.344p-2, 0x1.3509f79fef312p-18 } },
    erf_limit = 3.95,
    erfc_limit = 10.1,
    erf_split = 0.875,
    exact_power = 2.0 ^ 40, -- of any number but 1 it is 0 or infinity
    half = -1 << 12, -- leaves as many bits that the product of two such numbers is exact

    -- pi / 2 in parts. Of an argument below the limit the first two leave a number that is exact, and so is
    -- the product of the third with a whole number of quarter turns.
    half_pi = { 0x1.922p0, -0x1.2cp-18, 0x1.11p-26, 0x1.68c234p-39, limit = 6430 },
    digit = 12, -- bits of one of 2 / pi

    -- sin r = r + r^3 p(r^2)
    -- fpminimax(sin(x), [|3,5,7|], [|SG...|], [1b-40;.7859], relative, x): 4.0e-9
    sin = { -0x1.555546p-3, 0x1.110778p-7, -0x1.9953d8p-13 },

    -- cos r = 1 - r^2 / 2 + r^4 p(r^2)
    -- fpminimax(cos(sqrt(x)), [|2,3,4|], [|SG...|], [1b-30;.7859^2], relative, 1 - x / 2): 1.2e-10
    cos = { 0x1.55554ap-5, -0x1.6c0c2ap-10, 0x1.99e9p-16 },

    -- log((1 + s) / (1 - s)) = 2/3 s (3 + z + z^2 p(z)), z = s^2
    -- fpminimax((log((1 + sqrt(x)) / (1 - sqrt(x))) / sqrt(x) * 1.5 - 3 - x) / x^2, 3, [|SG...|],
    --   [1b-60;.02945], absolute): 1.5e-12
    log2 = { 0x1.333334p-1, 0x1.b6da0ap-2, 0x1.558a76p-2, 0x1.1c77b6p-2 },
    log2_scale = { 0x1.ec8p-1, -0x1.ec478cp-14 }, -- 2 / (3 ln 2)

    -- e^r = 1 + r + r^2 p(r)
    -- fpminimax(expm1(x), [|2,...,6|], [|SG...|], [-.3467;.3467], relative, x): 5.3e-9 of e^r,
    -- 1.4e-8 of e^r - 1
    expm1 = { 0x1.fffffep-2, 0x1.5554bp-3, 0x1.555716p-5, 0x1.12279ep-7, 0x1.6b7376p-10 },

    -- 2^r = p(r)
    -- fpminimax(2^x, [|1,...,6|], [|SG...|], [-.5;.5], relative, 1): 3.6e-9
    exp2 = {
      1, 0x1.62e43p-1, 0x1.ebfbd8p-3, 0x1.c6af76p-5, 0x1.3b30ap-7, 0x1.5f0b82p-10, 0x1.3fa206p-13,
    },

    -- fpminimax(2^x, [|1,...,5|], [|SG...|], [-.5;.5], relative, 1): 9.2e-8; for where the result
    -- counts for a fifth at most
    exp2_short = { 1, 0x1.62e42ap-1, 0x1.ebf9bap-3, 0x1.c6b69ap-5, 0x1.3ceaf8p-7, 0x1.5bfd58p-10 },

    -- log(1 + f) = f + f^2 p(f)
    -- fpminimax(log1p(x), [|2,...,9|], [|SG...|], [-.2929;.4143], relative, x): 3.0e-8
    log1p = {
      -0x1.fffffap-2, 0x1.5556f4p-2, -0x1.0004bp-2, 0x1.98d2aap-3, -0x1.535a14p-3, 0x1.31837ep-3,
      -0x1.251642p-3, 0x1.65f522p-4,
    },

    -- erf x = x + x p(x^2)
    -- fpminimax(erf(sqrt(x)) / sqrt(x) - 1, 5, [|SG...|], [1b-60;.875^2], absolute): 1.4e-8
    erf = {
      0x1.06eba6p-3, -0x1.812702p-2, 0x1.ce2036p-4, -0x1.b6ea32p-6, 0x1.499f5cp-8, -0x1.44aba8p-11,
    },

    -- log2(erfc x) = p(x)
    -- remez(log2(erfc(x)) * erfc(x), 6, [.87;3.95], erfc(x)): 6.8e-9 of erf x
    log2_erfc = {
      -0x1.a193f4p-13, -0x1.a092b2p0, -0x1.d65c3ep-1, -0x1.342466p-3, 0x1.08bfaap-5,
      -0x1.23e228p-8, 0x1.2f3646p-12,
    },

    -- erfc x = e^(-x^2) u p(u), u = 1 / (x + 3/2)
    -- fpminimax(exp((1/x - 1.5)^2) * erfc(1/x - 1.5) / x, 7, [|SG...|],
    --   [1/(10.1 + 1.5);1/(.87 + 1.5)], relative): 1.6e-8
    erfc = {
      0x1.20e142p-1, 0x1.b09eaep-1, 0x1.0343dep0, 0x1.77b83p-2, 0x1.27492ep0, -0x1.0c85cap3,
      0x1.65c872p3, -0x1.3eee68p2,
    },

    -- asin x = x + x^3 p(x^2)
    -- remez((asin(sqrt(x)) / sqrt(x) - 1) / x, 4, [0;1/4], x * sqrt(x) / asin(sqrt(x))): 4.93e-9
    asin = {
      0x1.5555c8p-3, 0x1.330204p-4, 0x1.747bb4p-5, 0x1.8c3e96p-6, 0x1.595becp-5,
    },

    -- atan x = x + x^3 p(x^2)
    -- remez((atan(sqrt(x)) / sqrt(x) - 1) / x, 8, [0;1], x * sqrt(x) / atan(sqrt(x))): 2.86e-9
    atan = {
      -0x1.55553ep-2, 0x1.9991e4p-3, -0x1.2420acp-3, 0x1.c09128p-4, -0x1.58242ap-4, 0x1.dab6e2p-5,
      -0x1.fef626p-6, 0x1.66199cp-7, -0x1.d779dep-10,
    },
  },

  f64 = {
    mantissa = 52,
    bias = 1023,
    sign = 1 << 63,
    top = 63,
    sqrt_half = 0x3fe6a09e667f3bcd,
    magic = 0x1.8p52,
    tiny = 0x1p-1022,
    ln2 = { 0x1.62e42fefa3p-1, 0x1.3de6af278ece6p-42 },
    exp_range = { -1418, 710 },
    expm1_range = { -50, 710 },
    exp2_range = { -2046, 1025 },
    tanh_limit = 19.5,
    sinh_limit = 710.5,
    half_turn = { 0x1.921fb54442d18p0, 0x1.1a62633145c07p-54 },
    per_e = {
      log2 = { 1, 0x1.c551d94ae0bf8p-2 },
      log10 = { 0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57 },
    },
    per_two = { log2 = { 1 }, log10 = { 0x1.34413509f8p-2, -0x1.80433b83b532ap-44 } },
    erf_limit = 6,
    erfc_limit = 27.3,
    erf_split = 1,
    exact_power = 2.0 ^ 70,
    half = -1 << 27,
    half_pi = {
      0x1.921fb54p0, 0x1.10b462p-30, -0x1.cb3b398p-55, -0x1.d747f23e32ed7p-83, limit = 2.0 ^ 26,
    },
    digit = 26,

    -- fpminimax(sin(x), [|3,5,7,9,11,13|], [|D...|], [1b-40;.7855], relative, x): 3.8e-18
    sin = {
      -0x1.5555555555548p-3, 0x1.111111110f75dp-7, -0x1.a01a019bf222ep-13, 0x1.71de355f05599p-19,
      -0x1.ae5e5471f5501p-26, 0x1.5d8e3511cdb44p-33,
    },

    -- fpminimax(cos(sqrt(x)), [|2,3,4,5,6,7|], [|D...|], [1b-30;.7855^2], relative, 1 - x / 2): 5.7e-20
    cos = {
      0x1.555555555554bp-5, -0x1.6c16c16c15016p-10, 0x1.a01a019c8f3eep-16, -0x1.27e4f7f19d4b2p-22,
      0x1.1ee9dbd0d86ap-29, -0x1.8fa681e38485fp-37,
    },

    -- fpminimax(..., 7, [|D...|], [1b-60;.02945], absolute): 4.3e-22
    log2 = {
      0x1.3333333333333p-1, 0x1.b6db6db6db97p-2, 0x1.5555555507f26p-2, 0x1.1745d1b548371p-2,
      0x1.d89d5042f8478p-3, 0x1.99a8095b51967p-3, 0x1.675c9c69dd62fp-3, 0x1.6a70277451865p-3,
    },
    log2_scale = { 0x1.ec709ep-1, -0x1.e2fe0145b01f5p-28 },

    -- fpminimax(expm1(x), [|2,...,11|], [|D...|], [-.3467;.3467], relative, x): 7.4e-18 of e^r,
    -- 1.9e-17 of e^r - 1
    expm1 = {
      0x1.0000000000005p-1, 0x1.555555555553bp-3, 0x1.5555555552101p-5, 0x1.1111111118834p-7,
      0x1.6c16c17f336cp-10, 0x1.a01a0177f3ca6p-13, 0x1.a019a6914c09ap-16, 0x1.71de80fa36f19p-19,
      0x1.28a2a1b3c047fp-22, 0x1.ae77aa5a5b9e6p-26,
    },

    -- fpminimax(2^x, [|1,...,11|], [|D...|], [-.5;.5], relative, 1): 5.7e-18
    exp2 = {
      1, 0x1.62e42fefa39efp-1, 0x1.ebfbdff82c5a6p-3, 0x1.c6b08d704a12cp-5, 0x1.3b2ab6fb9fda6p-7,
      0x1.5d87fe789e96fp-10, 0x1.4309130f6cbdbp-13, 0x1.ffcbfc6685ee5p-17, 0x1.62bfc6596be6ap-20,
      0x1.b52522bc20bcdp-24, 0x1.e61d4332035bap-28, 0x1.e9731780488cp-32,
    },

    -- log(1 + f) = 2 atanh(s) = 2 s + s^3 p(s^2), s = f / (2 + f)
    -- fpminimax((log((1 + sqrt(x)) / (1 - sqrt(x))) / sqrt(x) - 2) / x, 6, [|D...|],
    --   [1b-60;.02945], absolute): 4.5e-18
    atanh = {
      0x1.5555555555558p-1, 0x1.99999999952b9p-2, 0x1.2492492dfb9b8p-2, 0x1.c71c62d649d8cp-3,
      0x1.7462b925fa03ep-3, 0x1.39fdcbbceb4c6p-3, 0x1.2b5f5b2f9f871p-3,
    },

    -- fpminimax(erf(sqrt(x)) / sqrt(x) - 1, 12, [|D...|], [1b-60;1], absolute): 1.1e-17
    erf = {
      0x1.06eba8214db69p-3, -0x1.812746b0379fdp-2, 0x1.ce2f21a04362dp-4, -0x1.b82ce312abf08p-6,
      0x1.565bcd12991cp-8, -0x1.c02db49b09506p-11, 0x1.f9a335388d2f5p-14, -0x1.f4d333884b5cap-17,
      0x1.b9ee95850f6f5p-20, -0x1.5f9828c55da45p-23, 0x1.fc78cbccf6129p-27,
      -0x1.46794feb16f44p-30, 0x1.2978304266ff7p-34,
    },

    -- remez(log2(erfc(x)) * erfc(x), 17, [.99;6], erfc(x)): 1.8e-17 of erf x
    log2_erfc = {
      -0x1.73d4194f79a2bp-21, -0x1.a0be0e0ee4e87p0, -0x1.d6432e1ae4b0fp-1, -0x1.2f75718a58614p-3,
      0x1.c0fa44f9c4779p-6, 0x1.321991ac248b5p-11, -0x1.69277fca465e1p-9, 0x1.21a535ee77bf3p-10,
      -0x1.8fa6d18a99288p-13, -0x1.06c032c7ae906p-15, 0x1.1aeed939b844fp-15,
      -0x1.abb1ff4a281cbp-17, 0x1.a525155446a19p-19, -0x1.2687a0de4ef4cp-21,
      0x1.25402911f07adp-24, -0x1.8e1274fd66708p-28, 0x1.4b784df18c771p-32,
      -0x1.fff78a8656d6bp-38,
    },

    -- fpminimax(exp((1/x - 1.5)^2) * erfc(1/x - 1.5) / x, 20, [|D...|],
    --   [1/(27.3 + 1.5);1/(.99 + 1.5)], relative): 2.8e-17
    erfc = {
      0x1.20dd75041fb0dp-1, 0x1.b14c2f8d6e6c2p-1, 0x1.f9838a6c892f9p-1, 0x1.44f99ba7635ccp-1,
      -0x1.0edfe9ec9dc6dp-1, -0x1.07a3a3ae7440ep1, -0x1.d4e00e0c45293p0, 0x1.1a00e5d117fb9p2,
      0x1.67761f2ac831fp0, 0x1.7d600bbed5ce8p6, -0x1.670318d99cf9ep9, 0x1.dad75f18c78cfp11,
      -0x1.13cdc96586b1ap14, 0x1.f4e8f0f64eb99p15, -0x1.4efa96cd99fcap17, 0x1.46e6d1f3e93a4p18,
      -0x1.cefe63640ee04p18, 0x1.d21b4f993f56cp18, -0x1.3d9480b7a9657p18, 0x1.07594d5820cafp17,
      -0x1.92003d1e010f2p14,
    },

    -- asin x = x + x^3 p(x^2)
    -- remez((asin(sqrt(x)) / sqrt(x) - 1) / x, 11, [0;1/4], x * sqrt(x) / asin(sqrt(x))): 1.49e-17
    asin = {
      0x1.555555555539p-3, 0x1.333333336e7acp-4, 0x1.6db6db427dab1p-5, 0x1.f1c72c38096a4p-6,
      0x1.6e89f45455781p-6, 0x1.1c6be09154dc9p-6, 0x1.c6fdd559dfd61p-7, 0x1.8ec28476561d4p-7,
      0x1.abd32bf08684dp-8, 0x1.3ff23358dd08ep-6, -0x1.09cf7c7030f26p-6, 0x1.056c38f13688dp-5,
    },

    -- atan x = x + x^3 p(x^2)
    -- remez((atan(sqrt(x)) / sqrt(x) - 1) / x, 20, [0;1], x * sqrt(x) / atan(sqrt(x))): 7.56e-19
    atan = {
      -0x1.555555555554dp-2, 0x1.9999999998c27p-3, -0x1.2492492456ab6p-3, 0x1.c71c71b629147p-4,
      -0x1.745d15d031235p-4, 0x1.3b139bce8fc34p-4, -0x1.11103267ce2d5p-4, 0x1.e1d4870911217p-5,
      -0x1.aeda519c7ad82p-5, 0x1.84b44e5130159p-5, -0x1.5f241d55ecda2p-5, 0x1.3904465b28fbdp-5,
      -0x1.0c93f7e007e1ap-5, 0x1.ac77e598bd192p-6, -0x1.30f97b13138d6p-6, 0x1.72db2bcdaad17p-7,
      -0x1.6fd0195c7a73ap-8, 0x1.1a034130e0995p-9, -0x1.36d8caaee3f52p-11, 0x1.b3abbd071ec77p-14,
      -0x1.22634247f972ap-17,
    },
  },
}

return coefficients
