/*
 * glue: the top of src/ turns R objects into C ones and back. Entries are
 * called ffi_<noun>_<verb>; they unpack, call, pack and do nothing else.
 */
#ifndef DPSOSP_GLUE_H
#define DPSOSP_GLUE_H

#define R_NO_REMAP
#include <Rinternals.h>

#include "barrier/barrier.h"

/* Arguments. The R layer has checked them; these functions guard against misuse with a plain error. */
double arg_double(SEXP x);
int arg_int(SEXP x);
size_t arg_size(SEXP x); /* a double that is a whole number */
int arg_flag(SEXP x);
const char *arg_string(SEXP x);
const double *arg_doubles(SEXP x, R_xlen_t length); /* length < 0: any */
int arg_choice(SEXP x, const char *const *choices); /* the place of a string among the choices, which end with NULL */
SEXP arg_element(SEXP list, const char *name);

/* Pointers: an R error when x is not of this kind or was restored from a file. */
struct ledger *arg_ledger(SEXP x);

/* From its name in R (r_privacy.c). */
enum oracle_neighbours arg_neighbours(SEXP x);

/* Source of randomness: TRUE is R's generator (draws only between glue_answer_begin() and _end()). */
const struct base_entropy *arg_entropy(SEXP reproducible);

/* Before the core runs: no more threads than R/check-arguments.R says; an R error when the option is wrong. */
void glue_limit_threads(void);

/* Interrupts stop the core; callback(done, total), or NULL, shows progress until glue_host_end(). */
void glue_host_begin(SEXP callback);
void glue_host_end(void);

/* Around a call of the core that draws: threads and host as above; the state of R's generator, if it is used, is read
 * before and written after the draws. A status that is not BASE_OK is an R error. */
void glue_answer_begin(SEXP reproducible, SEXP callback);
void glue_answer_end(SEXP reproducible, int status);

/* Calls code(argument), which runs R code, from inside the core; nothing jumps over the core's frames. FALSE when the
 * code did not return. */
int glue_run(void (*code)(void *), void *argument);

/* An empty pointer to a C object: tag names its kind, finalizer frees it. Create it before the object and set its
 * address at once: then nothing is lost if R has no memory for it. */
SEXP glue_pointer(const char *tag, R_CFinalizer_t finalizer);
void *glue_address(SEXP x, const char *tag);
/* Of a pointer whose object was freed before its time: errors say so, and not that it was restored from a file. */
void glue_close(SEXP x);

/* An R list, and R numbers, with these names. */
SEXP glue_list(int length, const char *const *names);
SEXP glue_numbers(int length, const char *const *names, const double *x);
/* The element of this name; R_NilValue when there is none. */
SEXP glue_element(SEXP list, const char *name);

/* Raises the R condition of this status (class dpsosp_error_<what>) unless it is BASE_OK. Free memory before. */
void glue_check(int status);
/* The same for a status that is known to be an error. */
void NORET glue_fail(int status);

#endif
