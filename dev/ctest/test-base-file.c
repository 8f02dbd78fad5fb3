/* Memory in a file without a name: zeroed, as large as asked, gone with the mapping, never more than there is room. */
#include "ctest.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/dpsosp-test-XXXXXX";

static void mapped(size_t bytes);
static void refused(void);

void test_base_file(void) {
  CHECK(mkdtemp(folder) != NULL);
  mapped(0);
  mapped(1);
  mapped(((size_t)8 << 20) + 5); /* more than is reserved at a time */
  refused();
  CHECK(rmdir(folder) == 0); /* it is empty */
}

static int entries(void) {
  int count = 0;
  DIR *d = opendir(folder);
  if (!d) return -1;
  while (readdir(d)) count++;
  closedir(d);
  return count;
}

/* The lowest free descriptor. */
static int next_descriptor(void) {
  int file = dup(0);
  close(file);
  return file;
}

/* The line of the mapping that begins at p, in the list of the system; empty: there is none. */
static void mapping(const void *p, char *line, int size) {
  char start[40];
  snprintf(start, sizeof start, "%08zx-", (size_t)p);
  FILE *maps = fopen("/proc/self/maps", "r");
  line[0] = 0;
  while (maps && fgets(line, size, maps) && strncmp(line, start, strlen(start)) != 0) line[0] = 0;
  if (maps) fclose(maps);
}

/* Only root may look at it; -1: not possible. */
static int mode_of(const char *line) {
  char path[100] = "/proc/self/map_files/";
  struct stat s;
  strncat(path, line, strcspn(line, " "));
  return stat(path, &s) == 0 ? (int)(s.st_mode & 0777) : -1;
}

static void mapped(size_t bytes) {
  void *p;
  char line[400];
  int before = next_descriptor();
  mode_t mask = umask(0);
  CHECK(base_map(folder, bytes, &p) == BASE_OK && p != NULL);
  umask(mask);
  CHECK(entries() == 2 && next_descriptor() == before);
  unsigned char *byte = p;
  size_t wrong = 0;
  for (size_t i = 0; i < bytes; i++) wrong += byte[i] != 0;
  memset(p, 7, bytes);
  for (size_t i = 0; i < bytes; i++) wrong += byte[i] != 7;
  CHECK(wrong == 0);
  mapping(p, line, sizeof line);
  CHECK(strstr(line, " rw-s ") && strstr(line, folder) && strstr(line, "(deleted)"));
  CHECK(mode_of(line) == 0600 || mode_of(line) == -1);
  base_unmap(p, bytes);
  mapping(p, line, sizeof line);
  CHECK(!strstr(line, folder));
}

static void refused(void) {
  void *p = &p;
  int before = next_descriptor();
  CHECK(base_map("/no such folder", 1, &p) == BASE_ERR_FILE && p == NULL);
  CHECK(base_map(folder, (size_t)1 << 60, &p) == BASE_ERR_FILE && p == NULL);
  CHECK(base_map(folder, SIZE_MAX, &p) == BASE_ERR_FILE && p == NULL);
  ctest_fail_allocation(1);
  CHECK(base_map(folder, 1, &p) == BASE_ERR_MEMORY && p == NULL);
  ctest_fail_allocation(0);
  struct rlimit all, few;
  CHECK(getrlimit(RLIMIT_FSIZE, &all) == 0);
  few = all;
  few.rlim_cur = 1000;
  CHECK(setrlimit(RLIMIT_FSIZE, &few) == 0);
  CHECK(base_map(folder, 1001, &p) == BASE_ERR_FILE && p == NULL);
  CHECK(setrlimit(RLIMIT_FSIZE, &all) == 0);
  CHECK(next_descriptor() == before && entries() == 2);
  base_unmap(NULL, 5);
}
