/* Every task once, workers in their range, stops, limits, and a forked child that does not hang. */
#include "ctest.h"

#include <string.h>
#include <time.h>

#ifndef _WIN32
#include <sys/wait.h>
#include <unistd.h>
#endif

enum { MOST = 1000 };

struct seen {
  int times[MOST];
  int worker[MOST];
  int threads;
};

static void all_once(size_t count, int threads);
static void stops(int threads);
static void limits(void);
static void forked(void);

void test_base_parallel(void) {
  static const size_t counts[] = {0, 1, 2, 7, MOST};
  for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
    for (int threads = 1; threads <= 4; threads++) all_once(counts[k], threads);
  stops(1);
  stops(2);
  limits();
  forked();
  base_limit_threads(64);
}

static void look(void *context, size_t index, int worker) {
  struct seen *seen = context;
  seen->times[index]++;
  seen->worker[index] = worker;
}

static void all_once(size_t count, int threads) {
  static struct seen seen;
  memset(&seen, 0, sizeof seen);
  CHECK(base_parallel(count, threads, look, &seen) == BASE_OK);
  int right = 1;
  for (size_t i = 0; i < MOST; i++) {
    right = right && seen.times[i] == (i < count);
    right = right && seen.worker[i] >= 0 && seen.worker[i] < threads;
  }
  CHECK(right);
}

static long asked;
static volatile int looks; /* of other workers */

static int stop_at_third(void) { return ++asked >= 3; }

/* The first worker goes on until it is told to stop, but lets another one look a few times before; that one waits for
 * the end, so that it does not take all tasks away. */
static void until_stopped(void *context, size_t index, int worker) {
  int *done = context;
  for (clock_t end = clock() + CLOCKS_PER_SEC / 2; worker == 0 && index == 0 && looks < 10 && clock() < end;) continue;
  do {
    looks += worker != 0;
    if (base_parallel_stopped(worker)) return;
  } while (worker != 0);
  done[index] = 1;
}

static void stops(int threads) {
  static int done[MOST];
  static struct seen seen;
  struct base_host host = {stop_at_third, NULL};
  memset(done, 0, sizeof done);
  asked = 0;
  looks = threads == 1 ? 10 : 0;
  base_set_host(&host);
  CHECK(base_parallel(MOST, threads, until_stopped, done) == BASE_ERR_STOPPED);
  base_set_host(NULL);
  CHECK(asked == 3); /* by nobody after it said stop */
  int count = 0;
  for (int i = 0; i < MOST; i++) count += done[i];
  CHECK(count == 2);
  CHECK(base_parallel(MOST, threads, look, &seen) == BASE_OK); /* the next run begins anew */
}

static void limits(void) {
  base_limit_threads(1);
  CHECK(base_threads() == 1);
  base_limit_threads(2);
  CHECK(base_threads() >= 1 && base_threads() <= 2);
  base_limit_threads(1 << 30);
  CHECK(base_threads() >= 1 && base_threads() <= 64);
}

/* The parent has had threads; its child has none, and does not wait for them. */
static void forked(void) {
#ifndef _WIN32
  static struct seen seen;
  base_limit_threads(2);
  base_parallel(MOST, 2, look, &seen);
  pid_t child = fork();
  if (child == 0) {
    alarm(20); /* ends a child that waits */
    int alone = base_threads() == 1;
    base_parallel(MOST, base_threads(), look, &seen);
    _exit(alone ? 0 : 1);
  }
  int status = -1;
  CHECK(child > 0 && waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
#endif
}
