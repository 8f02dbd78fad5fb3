/* The first weights of a network: normal numbers that follow from a public seed, without the host's generator. */
#include "model/network.h"

#include <math.h>

struct uniforms {
  struct base_stream stream;
  unsigned char byte[BASE_STREAM_BYTES];
  size_t used;
};

static void uniforms_open(struct uniforms *u, uint32_t seed) {
  unsigned char key[BASE_KEY_BYTES] = {0};
  for (int i = 0; i < 4; i++) key[i] = (unsigned char)(seed >> (8 * i));
  base_stream_open(&u->stream, key);
  u->used = sizeof u->byte;
}

/* In (0, 1). */
static double uniform(struct uniforms *u) {
  if (u->used == sizeof u->byte) {
    base_stream_next(&u->stream, u->byte);
    u->used = 0;
  }
  uint32_t word = 0;
  for (int i = 0; i < 4; i++) word = word << 8 | u->byte[u->used++];
  return ldexp((double)word + 0.5, -32);
}

void network_start(const struct network *network, uint32_t seed, double *w) {
  struct uniforms u;
  uniforms_open(&u, seed);
  network_fans(network, w);
  for (size_t j = 0; j < network_dim(network); j++) w[j] = w[j] > 0 ? base_qnorm(uniform(&u)) / sqrt(w[j]) : 0;
}
