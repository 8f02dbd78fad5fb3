/*
 * The operating system's random generator. Nothing is kept in this process, so
 * there is no state to copy on fork; a failure is an error, never a fallback.
 */
#include "base/base.h"

#if defined(_WIN32)

#include <windows.h>
#include <bcrypt.h>

static int fill_system(void *buffer, size_t bytes) {
  unsigned char *p = buffer;
  while (bytes > 0) {
    ULONG part = bytes > 65536 ? 65536 : (ULONG)bytes;
    if (BCryptGenRandom(NULL, p, part, BCRYPT_USE_SYSTEM_PREFERRED_RNG) != 0) return BASE_ERR_ENTROPY;
    p += part;
    bytes -= part;
  }
  return BASE_OK;
}

#elif defined(__APPLE__) || defined(__FreeBSD__) || defined(__OpenBSD__) || defined(__NetBSD__)

#include <stdlib.h>

static int fill_system(void *buffer, size_t bytes) {
  arc4random_buf(buffer, bytes);
  return BASE_OK;
}

#else

#include <errno.h>
#include <sys/random.h>

static int fill_system(void *buffer, size_t bytes) {
  unsigned char *p = buffer;
  while (bytes > 0) {
    ssize_t got = getrandom(p, bytes, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return BASE_ERR_ENTROPY;
    p += got;
    bytes -= (size_t)got;
  }
  return BASE_OK;
}

#endif

const struct base_entropy base_entropy_system = {.fill = fill_system, .expand = 1};
