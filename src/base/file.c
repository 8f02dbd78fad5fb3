/*
 * Memory in a file, for more numbers than memory is to hold. The file is readable and writable for its owner alone, has
 * no name from the moment on at which it is made, and is mapped: the system keeps as much of it in memory as there is
 * room. It ends with the mapping, at the latest with the process, however that ends.
 */
#include "base/base.h"

#if defined(_WIN32)

int base_map(const char *folder, size_t bytes, void **out) {
  (void)folder, (void)bytes;
  *out = NULL;
  return BASE_ERR_FILE;
}

void base_unmap(void *p, size_t bytes) { (void)p, (void)bytes; }

#else

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Bytes that are reserved at a time: an interrupt of the system call begins this part again, not the whole. */
#define PART ((size_t)8 << 20)

static int open_unnamed(const char *folder, int *file);
static int has_room(int file, size_t bytes);
static int reserve(int file, size_t bytes);
static int reserve_part(int file, size_t at, size_t bytes);

int base_map(const char *folder, size_t bytes, void **out) {
  *out = NULL;
  if (bytes == 0) bytes = 1;
  int file, status = open_unnamed(folder, &file);
  if (status != BASE_OK) return status;
  status = has_room(file, bytes) ? reserve(file, bytes) : BASE_ERR_FILE;
  if (status == BASE_OK) {
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (p != MAP_FAILED) *out = p;
    if (p == MAP_FAILED) status = BASE_ERR_FILE;
  }
  close(file); /* the mapping keeps it */
  return status;
}

void base_unmap(void *p, size_t bytes) {
  if (p) munmap(p, bytes == 0 ? 1 : bytes);
}

/* mkstemp() gives it the mode 0600. */
static int open_unnamed(const char *folder, int *file) {
  static const char name[] = "/dpsosp-XXXXXX";
  size_t length = strlen(folder);
  char *path = base_alloc(length + sizeof name, 1);
  if (!path) return BASE_ERR_MEMORY;
  memcpy(path, folder, length);
  memcpy(path + length, name, sizeof name);
  *file = mkstemp(path);
  int made = *file >= 0, nameless = made && unlink(path) == 0;
  if (made && !nameless) close(*file);
  base_free(path);
  return nameless ? BASE_OK : BASE_ERR_FILE;
}

/* Asked first, so that no attempt fills the disk. A file beyond the limit of the process would be a signal. */
static int has_room(int file, size_t bytes) {
  struct statvfs disk;
  struct rlimit limit;
  if ((off_t)bytes < 0 || (size_t)(off_t)bytes != bytes) return 0;
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < bytes) return 0;
  if (fstatvfs(file, &disk) != 0 || disk.f_blocks == 0) return 1; /* not known */
  return (double)disk.f_bavail * (double)disk.f_frsize >= (double)bytes;
}

/* Room on the disk for all of it: writing to a mapped page without room would end the process by a signal. */
static int reserve(int file, size_t bytes) {
  for (size_t at = 0; at < bytes; at += PART) {
    int error = reserve_part(file, at, bytes - at < PART ? bytes - at : PART);
    if (error != 0) return error == EINTR ? BASE_ERR_STOPPED : BASE_ERR_FILE;
  }
  return BASE_OK;
}

#if defined(__APPLE__)

/* There is no posix_fallocate(); zeros that are written have room. */
static int reserve_part(int file, size_t at, size_t bytes) {
  static const char zeros[1 << 16];
  (void)at;
  while (bytes > 0) {
    ssize_t done = write(file, zeros, bytes < sizeof zeros ? bytes : sizeof zeros);
    if (done < 0 && errno == EINTR && !base_stop_requested()) continue;
    if (done <= 0) return done < 0 ? errno : ENOSPC;
    bytes -= (size_t)done;
  }
  return 0;
}

#else

static int reserve_part(int file, size_t at, size_t bytes) {
  int error = EINTR;
  while (error == EINTR && !base_stop_requested()) error = posix_fallocate(file, (off_t)at, (off_t)bytes);
  return error;
}

#endif
#endif
