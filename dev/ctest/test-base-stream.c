/* ChaCha20 against published vectors, and its counter. */
#include "ctest.h"

#include <string.h>

enum { BLOCKS = BASE_STREAM_BYTES / 64 }; /* of a call */

static void vector_of_the_standard(void);
static void vector_of_zeros(void);
static void counter(void);
static void every_block_is_another(void);

void test_base_stream(void) {
  vector_of_the_standard();
  vector_of_zeros();
  counter();
  every_block_is_another();
}

/* RFC 8439, section 2.3.2: block 1 of a key with a nonce. */
static void vector_of_the_standard(void) {
  static const unsigned char expected[64] = {
      0x10, 0xf1, 0xe7, 0xe4, 0xd1, 0x3b, 0x59, 0x15, 0x50, 0x0f, 0xdd, 0x1f, 0xa3, 0x20, 0x71, 0xc4,
      0xc7, 0xd1, 0xf4, 0xc7, 0x33, 0xc0, 0x68, 0x03, 0x04, 0x22, 0xaa, 0x9a, 0xc3, 0xd4, 0x6c, 0x4e,
      0xd2, 0x82, 0x64, 0x46, 0x07, 0x9f, 0xaa, 0x09, 0x14, 0xc2, 0xd7, 0x05, 0xd9, 0x8b, 0x02, 0xa2,
      0xb5, 0x12, 0x9c, 0xd1, 0xde, 0x16, 0x4e, 0xb9, 0xcb, 0xd0, 0x83, 0xe8, 0xa2, 0x50, 0x3c, 0x4e};
  struct base_stream s;
  unsigned char key[BASE_KEY_BYTES], byte[BASE_STREAM_BYTES];
  for (int i = 0; i < BASE_KEY_BYTES; i++) key[i] = (unsigned char)i;
  base_stream_open(&s, key);
  s.state[12] = 1;
  s.state[13] = 0x09000000;
  s.state[14] = 0x4a000000;
  base_stream_next(&s, byte);
  CHECK(memcmp(byte, expected, sizeof expected) == 0);
}

/* RFC 8439, appendix A.1, vectors 1 and 2: blocks 0 and 1 of the key that is zero. */
static void vector_of_zeros(void) {
  static const unsigned char first[16] = {0x76, 0xb8, 0xe0, 0xad, 0xa0, 0xf1, 0x3d, 0x90,
                                          0x40, 0x5d, 0x6a, 0xe5, 0x53, 0x86, 0xbd, 0x28},
                             second[16] = {0x9f, 0x07, 0xe7, 0xbe, 0x55, 0x51, 0x38, 0x7a,
                                           0x98, 0xba, 0x97, 0x7c, 0x73, 0x2d, 0x08, 0x0d};
  struct base_stream s;
  unsigned char key[BASE_KEY_BYTES] = {0}, byte[BASE_STREAM_BYTES];
  base_stream_open(&s, key);
  base_stream_next(&s, byte);
  CHECK(memcmp(byte, first, sizeof first) == 0);
  CHECK(memcmp(byte + 64, second, sizeof second) == 0);
}

/* It goes on where a call ends, over 32 bits and over all 64. */
static void counter(void) {
  struct base_stream s, t;
  unsigned char key[BASE_KEY_BYTES] = {7}, byte[BASE_STREAM_BYTES], again[BASE_STREAM_BYTES];
  base_stream_open(&s, key);
  s.state[12] = 0xfffffffe;
  t = s;
  base_stream_next(&s, byte);
  CHECK(s.state[12] == BLOCKS - 2 && s.state[13] == 1);
  t.state[12] = 0;
  t.state[13] = 1;
  base_stream_next(&t, again);
  CHECK(memcmp(byte + 128, again, sizeof byte - 128) == 0);
  s.state[12] = s.state[13] = 0xffffffff;
  base_stream_next(&s, byte);
  CHECK(s.state[12] == BLOCKS - 1 && s.state[13] == 0);
}

static void every_block_is_another(void) {
  enum { CALLS = 16, ALL = CALLS * BLOCKS };
  static unsigned char block[ALL][64];
  struct base_stream s;
  unsigned char key[BASE_KEY_BYTES] = {1};
  int equal = 0;
  base_stream_open(&s, key);
  for (int i = 0; i < CALLS; i++) base_stream_next(&s, block[i * BLOCKS]);
  for (int i = 0; i < ALL; i++) {
    for (int j = 0; j < i; j++) equal += memcmp(block[i], block[j], 64) == 0;
  }
  CHECK(equal == 0);
  key[31] = 1;
  unsigned char other[BASE_STREAM_BYTES];
  base_stream_open(&s, key);
  base_stream_next(&s, other);
  CHECK(memcmp(other, block[0], 64) != 0);
}
