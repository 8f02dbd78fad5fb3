/*
 * simd: loops that the compiler should vectorise, and functions that it compiles
 * for several instruction sets; the best one is chosen when
 * the program starts.
 *
 * Without OpenMP or with another compiler the same loops run as
 * written. Results may then differ in the last bits, because sums have another
 * order and products may be fused: the bounds of barrier/bounds.c hold for every
 * order, with and without fusion.
 */
#ifndef DPSOSP_BASE_SIMD_H
#define DPSOSP_BASE_SIMD_H

#include <stddef.h>
#include <stdint.h> /* __GLIBC__, too */

/* Not with sanitizers: the function that chooses a clone runs before they are initialised. dev/portability.sh defines
 * SIMD_CLONES, to test each set. */
#if !defined(SIMD_CLONES) && defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) &&  \
    !defined(__SANITIZE_ADDRESS__)
#if __GNUC__ >= 12
#define SIMD_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif
#endif
#ifndef SIMD_CLONES
#define SIMD_CLONES
#endif

/* Inlined, so that it is compiled for the clone that calls it. */
#ifdef __GNUC__
#define SIMD_INLINE static inline __attribute__((always_inline))
#else
#define SIMD_INLINE static inline
#endif

/* Put before a loop whose iterations are independent, except for the named sums (products). */
#ifdef _OPENMP
#define SIMD_PRAGMA(text) _Pragma(#text)
#define SIMD_LOOP SIMD_PRAGMA(omp simd)
#define SIMD_SUM(...) SIMD_PRAGMA(omp simd reduction(+ : __VA_ARGS__))
#define SIMD_PRODUCT_SUM(product, sum) SIMD_PRAGMA(omp simd reduction(* : product) reduction(+ : sum))
#else
#define SIMD_LOOP
#define SIMD_SUM(...)
#define SIMD_PRODUCT_SUM(product, sum)
#endif

/* Four doubles at any address, for loops that a pragma cannot describe. Where registers are shorter the
 * compiler uses two registers. Eight would be kept in memory where registers hold four. */
#ifdef __GNUC__
#define SIMD_VECTOR
typedef double simd_vector __attribute__((vector_size(4 * sizeof(double)), aligned(sizeof(double)), may_alias));
#define SIMD_AT(address) (*(simd_vector *)(address))
#define SIMD_ALL(x) {x, x, x, x}
#else
/* With other compilers one double. */
typedef double simd_vector;
#define SIMD_AT(address) (*(address))
#endif
enum { SIMD_LANES = sizeof(simd_vector) / sizeof(double) };

/* Number of doubles in a cache line. */
#define SIMD_LINE 8

/* Prefetches the cache line at an address. The address is a number because it may not be a valid pointer. */
#ifdef __GNUC__
#define SIMD_FETCH(address) __builtin_prefetch((const void *)(uintptr_t)(address), 0, 2)
#else
#define SIMD_FETCH(address) ((void)(address))
#endif

SIMD_INLINE void simd_fetch(uintptr_t address, size_t n) {
  for (size_t i = 0; i < n; i += SIMD_LINE) SIMD_FETCH(address + i * sizeof(double));
}

#endif
