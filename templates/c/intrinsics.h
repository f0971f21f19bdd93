/* intrinsics.h - the intrinsics of AVX2 and AVX-512. To read all of immintrin.h takes gcc 0.15 s, as long as the
 * kernels of a short op take to compile: where configure finds that its parts do (LATHE_INTRINSIC_PARTS), those
 * are read that kernels use. They are not meant to be included on their own, and ask for the mark of the whole. */
#ifndef LATHE_INTRINSICS_H
#define LATHE_INTRINSICS_H

#if defined LATHE_INTRINSIC_PARTS && !defined _IMMINTRIN_H_INCLUDED
#define _IMMINTRIN_H_INCLUDED
#include <smmintrin.h>
#include <avxintrin.h>
#include <avx2intrin.h>
#include <fmaintrin.h>
#include <f16cintrin.h>
#ifdef __AVX512F__
#include <avx512fintrin.h>
#include <avx512vlintrin.h>
#include <avx512bwintrin.h>
#include <avx512dqintrin.h>
#include <avx512vlbwintrin.h>
#include <avx512vnniintrin.h>
#endif
#ifdef __AMX_BF16__
#include <amxtileintrin.h>
#include <amxbf16intrin.h>
#include <amxint8intrin.h>
#endif
#undef _IMMINTRIN_H_INCLUDED
#else
#include <immintrin.h>
#endif

#endif
