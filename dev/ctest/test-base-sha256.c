/* SHA-256 against the vectors of NIST (FIPS 180-4 examples, and SHA256ShortMsg and SHA256LongMsg of its validation
 * programme), and its padding. */
#include "ctest.h"

#include <stdio.h>
#include <string.h>

static void vectors(void);
static void million(void);
static void padding(void);

void test_base_sha256(void) {
  vectors();
  million();
  padding();
}

static int hashes_to(const void *data, size_t bytes, const char *expected) {
  unsigned char digest[BASE_SHA256_BYTES];
  char text[2 * BASE_SHA256_BYTES + 1];
  base_sha256(data, bytes, digest);
  for (int i = 0; i < BASE_SHA256_BYTES; i++) snprintf(text + 2 * i, 3, "%02x", digest[i]);
  return strcmp(text, expected) == 0;
}

static void vectors(void) {
  static const struct {
    const char *text, *hash;
  } known[] = {
      {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
      {"\xd3", "28969cdfa74a12c82f3bad960b0b000aca2ac329deea5c2328ebc6f2ba9802c1"},
      {"\x11\xaf", "5ca7133fa735326081558ac312c620eeca9970d1e70a4b95533d956f072d1f98"},
      {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
      {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
      {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
       "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
       "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"}};
  for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
    CHECK(hashes_to(known[k].text, strlen(known[k].text), known[k].hash));
  }
}

static void million(void) {
  static char a[1000000];
  memset(a, 'a', sizeof a);
  CHECK(hashes_to(a, sizeof a, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"));
}

/* Around the length at which the padding needs a second block; the hashes are those of GNU coreutils. */
static void padding(void) {
  static const char zero[65];
  CHECK(hashes_to(zero, 55, "02779466cdec163811d078815c633f21901413081449002f24aa3e80f0b88ef7"));
  CHECK(hashes_to(zero, 56, "d4817aa5497628e7c77e6b606107042bbba3130888c5f47a375e6179be789fbb"));
  CHECK(hashes_to(zero, 63, "c7723fa1e0127975e49e62e753db53924c1bd84b8ac1ac08df78d09270f3d971"));
  CHECK(hashes_to(zero, 64, "f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b"));
  CHECK(hashes_to(zero, 65, "98ce42deef51d40269d542f5314bef2c7468d401ad5d85168bfab4c0108f75f7"));
}
