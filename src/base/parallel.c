/*
 * Threads: the only file that names them. Without OpenMP everything runs in the
 * calling thread.
 *
 * In a forked child the threads of libgomp are gone but it waits for them, so
 * a process other than the one that loaded the library has one thread.
 */
#include "base/base.h"

#ifdef _OPENMP
#include <omp.h>
#endif
#ifndef _WIN32
#include <unistd.h>
#endif

#define MOST_THREADS 64

static int most = MOST_THREADS;
static long home; /* the process with threads; 0: not yet known */
static int stopped;

static int read_stopped(void);
static void write_stopped(void);
static int smaller(int x, int y) { return x < y ? x : y; }

void base_limit_threads(int limit) {
  if (home == 0) home = base_process_id();
  most = smaller(limit, MOST_THREADS);
}

int base_threads(void) {
  if (home != 0 && home != base_process_id()) return 1;
#ifdef _OPENMP
  int threads = smaller(most, smaller(omp_get_max_threads(), omp_get_thread_limit()));
  return threads > 1 ? threads : 1;
#else
  return 1;
#endif
}

int base_parallel(size_t count, int threads, void (*task)(void *context, size_t index, int worker), void *context) {
  stopped = 0;
#ifdef _OPENMP
  if (count > 1 && threads > 1) {
    if (home == 0) home = base_process_id();
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (size_t i = 0; i < count; i++) task(context, i, omp_get_thread_num());
    return stopped ? BASE_ERR_STOPPED : BASE_OK;
  }
#endif
  (void)threads;
  for (size_t i = 0; i < count; i++) task(context, i, 0);
  return stopped ? BASE_ERR_STOPPED : BASE_OK;
}

/* The host is asked only in the thread that called base_parallel(), worker 0, and not again after it said stop. */
int base_parallel_stopped(int worker) {
  int now = read_stopped();
  if (worker == 0 && !now && base_stop_requested()) {
    now = 1;
    write_stopped();
  }
  return now;
}

static int read_stopped(void) {
  int now;
#ifdef _OPENMP
#pragma omp atomic read
#endif
  now = stopped;
  return now;
}

static void write_stopped(void) {
#ifdef _OPENMP
#pragma omp atomic write
#endif
  stopped = 1;
}

long base_process_id(void) {
#ifdef _WIN32
  return 0; /* no fork there */
#else
  return (long)getpid();
#endif
}
