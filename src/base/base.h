/*
 * base: what all rooms use. Status codes and their messages, checked
 * allocation, interrupts, progress and entropy.
 *
 * The core knows no R object. Its caller (the glue, or a C test) sets the
 * host once; the struct below holds what differs between hosts.
 */
#ifndef DPSOSP_BASE_H
#define DPSOSP_BASE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

/* Not in ISO C: strict compilers leave them out. */
#ifndef M_PI
#define M_PI 3.14159265358979323846
#endif
#ifndef M_SQRT2
#define M_SQRT2 1.41421356237309504880
#endif

/* Privacy needs IEEE arithmetic: checks find a NaN by comparing it, and bounds are for sums in the order written. */
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__) ||                               \
    defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || defined(__NO_SIGNED_ZEROS__) || defined(_M_FP_FAST)
#error "dpsosp needs IEEE 754 arithmetic: compile it without -ffast-math and its like (in ~/.R/Makevars, perhaps)"
#endif
/* The same where compilers do not announce it: NULL, or a short text that describes the fault. */
const char *base_arithmetic_fault(void);

enum base_status {
  BASE_OK = 0,
  BASE_ERR_MEMORY,     /* an allocation failed or its size overflows */
  BASE_ERR_STOPPED,    /* the host asked to stop (an interrupt) */
  BASE_ERR_ENTROPY,    /* the source of randomness failed; never a fallback */
  BASE_ERR_ARGUMENT,   /* a public argument is out of its range */
  BASE_ERR_BUDGET,     /* the ledger refuses: not enough budget is left */
  BASE_ERR_FORK,       /* a budget was used in a forked child */
  BASE_ERR_ACCOUNTANT, /* the mechanism does not fit the budget's accountant */
  BASE_ERR_NUMERIC,    /* LAPACK did not converge on a released matrix */
  BASE_ERR_SOURCE,     /* the host's source of rows failed */
  BASE_ERR_ROWS,       /* a pass over the source did not give n rows, or gave more than n persons; with persons the text
                          must not tell about rows, whose number is private */
  BASE_ERR_RELATION,   /* a budget that was charged under one neighbour relation is used under another */
  BASE_ERR_STEP,       /* a query between the releases of a step on a batch */
  BASE_ERR_RECORDS,    /* fewer fresh records are left than requested */
  BASE_ERR_FILE,       /* base_map() found no room, or no file can be made in the folder */
  BASE_STATUS_COUNT
};

/* A word for the code, which names the class of its condition in R, and a short text; both depend on the code only. */
const char *base_name(int status);
const char *base_message(int status);

struct base_host {
  int (*stop_requested)(void);               /* nonzero: end as soon as possible */
  void (*progress)(int done, int total);     /* may be NULL */
};

/* The host is copied; NULL restores the default (never stops, no progress). */
void base_set_host(const struct base_host *host);
int base_stop_requested(void);
void base_progress(int done, int total);

/* A source of random bytes: fill returns BASE_OK or BASE_ERR_ENTROPY. */
struct base_entropy {
  int (*fill)(void *buffer, size_t bytes);
  int expand; /* 1: request a key of BASE_KEY_BYTES, in any thread, and expand it (base_stream) */
};
/* The operating system's generator, without any state in this process. */
extern const struct base_entropy base_entropy_system;

/* Bytes computed from a key by ChaCha20. The caller wipes the stream. */
#define BASE_KEY_BYTES 32
#define BASE_STREAM_BYTES 512 /* at once */
struct base_stream {
  uint32_t state[16];
  uint32_t work[16][BASE_STREAM_BYTES / 64]; /* the key could be computed from it */
};
void base_stream_open(struct base_stream *s, const unsigned char *key);
void base_stream_next(struct base_stream *s, unsigned char *byte);

/* The 32 bytes of SHA-256. */
#define BASE_SHA256_BYTES 32
void base_sha256(const void *data, size_t bytes, unsigned char *digest);

/* Constant while a process lives; different in a forked child. 0 where there is no fork. */
long base_process_id(void);

/* Number of threads: at most limit (the last one given), OMP_THREAD_LIMIT and OMP_NUM_THREADS, and one in a
 * child of the process that first called base_limit_threads(). */
void base_limit_threads(int limit);
int base_threads(void);
/* Calls task(context, index, worker) for every index below count, in any order, from at most `threads` threads, with
 * 0 <= worker < threads. BASE_ERR_STOPPED when a task was told to stop. */
int base_parallel(size_t count, int threads, void (*task)(void *context, size_t index, int worker), void *context);
/* For a task: should it return as soon as possible? */
int base_parallel_stopped(int worker);

/* Zeroed memory for count objects of size bytes, or NULL. */
void *base_alloc(size_t count, size_t size);
void base_free(void *p);

/* Zeroed memory in an unnamed file of the folder, which must have room for all of it. Not on Windows. */
int base_map(const char *folder, size_t bytes, void **out);
void base_unmap(void *p, size_t bytes);

/* Distributions, from R's mathematical library. */
double base_pnorm(double x);     /* P(Z <= x) */
double base_pnorm_log(double x); /* log P(Z <= x) */
double base_qnorm(double p);
double base_pnchisq(double x, double df, double ncp); /* P(X <= x) */

#endif
