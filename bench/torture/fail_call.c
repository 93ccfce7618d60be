/* For LD_PRELOAD: the FAIL_CALL-th call that writes (data, a folder, a name) fails with errno FAIL_ERRNO, and the
   number of such calls goes to the file FAIL_COUNT at the end. Calls that write to a socket or an event are not among
   them: no disk is behind those. With FAIL_RANK only the process whose RANK it is counts. scripts/torture makes every
   call fail once. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static long calls, wanted = -1;

static int is_chosen(void) {
  const char *chosen = getenv("FAIL_RANK"), *rank = getenv("RANK");
  return !chosen || strcmp(chosen, rank ? rank : "launcher") == 0;
}

static int fails(void) {
  if (!is_chosen()) return 0;
  if (wanted < 0) wanted = getenv("FAIL_CALL") ? atol(getenv("FAIL_CALL")) : 0;
  if (__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) != wanted) return 0;
  errno = atoi(getenv("FAIL_ERRNO"));
  return 1;
}

static int is_stored(int file) {
  struct stat state;
  return fstat(file, &state) != 0 || ((state.st_mode & S_IFMT) != 0 && !S_ISSOCK(state.st_mode));
}

#define REAL(name, result, ...)       \
  static result (*real)(__VA_ARGS__); \
  if (!real) real = (result(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)

ssize_t write(int file, const void* bytes, size_t size) {
  REAL(write, ssize_t, int, const void*, size_t);
  return is_stored(file) && fails() ? -1 : real(file, bytes, size);
}
ssize_t writev(int file, const struct iovec* parts, int count) {
  REAL(writev, ssize_t, int, const struct iovec*, int);
  return is_stored(file) && fails() ? -1 : real(file, parts, count);
}
size_t fwrite(const void* bytes, size_t size, size_t count, FILE* file) {
  REAL(fwrite, size_t, const void*, size_t, size_t, FILE*);
  return fails() ? 0 : real(bytes, size, count, file);
}
int fputs(const char* text, FILE* file) {
  REAL(fputs, int, const char*, FILE*);
  return fails() ? EOF : real(text, file);
}
int fflush(FILE* file) {
  REAL(fflush, int, FILE*);
  return fails() ? EOF : real(file);
}
int fsync(int file) {
  REAL(fsync, int, int);
  return fails() ? -1 : real(file);
}
int rename(const char* from, const char* to) {
  REAL(rename, int, const char*, const char*);
  return fails() ? -1 : real(from, to);
}
int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  REAL(renameat2, int, int, const char*, int, const char*, unsigned);
  return fails() ? -1 : real(from_folder, from, to_folder, to, flags);
}
int mkdir(const char* path, mode_t mode) {
  REAL(mkdir, int, const char*, mode_t);
  return fails() ? -1 : real(path, mode);
}
int ftruncate(int file, off_t size) {
  REAL(ftruncate, int, int, off_t);
  return fails() ? -1 : real(file, size);
}
int linkat(int from, const char* path, int to, const char* target, int flags) {
  REAL(linkat, int, int, const char*, int, const char*, int);
  return fails() ? -1 : real(from, path, to, target, flags);
}

__attribute__((destructor)) static void tell(void) {
  const char* path = getenv("FAIL_COUNT");
  if (!path || !is_chosen()) return;
  wanted = 0; /* nothing fails any more */
  const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0) return;
  dprintf(file, "%ld\n", calls);
  close(file);
}
