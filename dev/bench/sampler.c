/*
 * Does the sampler's time tell anything? For dev/bench/noise.R, which compiles
 * and runs it. The time of a call is compared with the noise that it drew
 * (which an observer of the released value would like to know) and with the
 * un-noised value.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "mech/private.h"

enum { LEVELS = 5, MOST = 54 };

static void throughput(void);
static void by_integer_part(void);
static void told_by_total(size_t n, int calls);
static void by_value(void);

int main(void) {
  throughput();
  by_integer_part();
  told_by_total(1, 400000);
  told_by_total(MOST, 40000);
  by_value();
  return 0;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void throughput(void) {
  static double x[1000000];
  const double start = now();
  const int status = mech_gaussian(&base_entropy_system, 1000000, 1, x);
  printf("samples 1000000 seconds %.4f status %d\n", (now() - start) / 1e9, status);
}

/* The integer part k of |noise| / sd is drawn first, by trials whose number grows with it. */
static void by_integer_part(void) {
  double sum[LEVELS] = {0}, square[LEVELS] = {0}, count[LEVELS] = {0};
  struct mech_bits b;
  mech_bits_open(&b, &base_entropy_system);
  for (int i = 0; i < 2000000; i++) {
    struct mech_variate v;
    mech_bits_allow(&b, MECH_PATIENCE);
    const double start = now();
    mech_draw_normal(&b, &v);
    const double time = now() - start;
    const size_t k = v.k < LEVELS ? v.k : LEVELS - 1;
    if (time > 1e5) continue; /* another process ran */
    sum[k] += time;
    square[k] += time * time;
    count[k]++;
  }
  for (int k = 0; k < LEVELS && count[k] > 1; k++) {
    const double mean = sum[k] / count[k];
    printf("integer %d count %.0f ns %.1f sd %.1f\n", k, count[k], mean, sqrt(square[k] / count[k] - mean * mean));
  }
  mech_bits_close(&b);
}

/* Squared correlation of a call's time with the sum of its |noise| / sd. */
static void told_by_total(size_t n, int calls) {
  double x[MOST], st = 0, sz = 0, stt = 0, szz = 0, stz = 0, used = 0;
  for (int i = 0; i < calls; i++) {
    memset(x, 0, sizeof x);
    const double start = now();
    if (mech_gaussian(&base_entropy_system, n, 1, x) != BASE_OK) return;
    const double t = now() - start;
    double z = 0;
    for (size_t j = 0; j < n; j++) z += fabs(x[j]);
    if (t > 1e6) continue;
    used++, st += t, sz += z, stt += t * t, szz += z * z, stz += t * z;
  }
  const double ctt = stt / used - st * st / used / used, czz = szz / used - sz * sz / used / used,
               ctz = stz / used - st * sz / used / used;
  printf("call of %zu ns %.1f sd %.1f rsquared %.5f\n", n, st / used, sqrt(ctt), ctz * ctz / (ctt * czz));
}

/* Un-noised values of all magnitudes, in standard deviations, in turn so that the machine's moods do not matter. */
static void by_value(void) {
  static const double values[] = {0, 0x1p-60, 0x1p-20, 0.3, 1, 1e6, 1e15, 1e60};
  enum { KINDS = sizeof values / sizeof *values };
  double sum[KINDS] = {0}, square[KINDS] = {0}, count[KINDS] = {0}, x[MOST];
  for (int i = 0; i < 20000 * KINDS; i++) {
    const int kind = i % KINDS;
    for (int j = 0; j < MOST; j++) x[j] = values[kind];
    const double start = now();
    if (mech_gaussian(&base_entropy_system, MOST, 1, x) != BASE_OK) return;
    const double t = now() - start;
    if (t > 1e6) continue;
    sum[kind] += t, square[kind] += t * t, count[kind]++;
  }
  for (int k = 0; k < KINDS; k++) {
    const double mean = sum[k] / count[k], sd = sqrt(square[k] / count[k] - mean * mean);
    printf("value %g ns %.1f error %.1f\n", values[k], mean, sd / sqrt(count[k]));
  }
}
