/* Makes the n-th call of a kind fail. Loaded with LD_PRELOAD, so that it stands before libc. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { IO, MEMORY, ARRAY, KINDS };
static long calls[KINDS], failing[KINDS];
static int number = EIO;

static int fails(int kind) {
    if (!failing[kind] || __atomic_add_fetch(&calls[kind], 1, __ATOMIC_RELAXED) != failing[kind])
        return 0;
    errno = kind == IO ? number : ENOMEM;
    return 1;
}

/* Files and folders; the pipes between processes do not fail. */
static int is_pipe(int file) {
    struct stat found;
    return syscall(SYS_fstat, file, &found) == 0 && !S_ISREG(found.st_mode);
}
#define CALL(type, name, code, parameters, ...) \
    type name parameters { return fails(IO) ? -1 : (type)syscall(code, __VA_ARGS__); }
#define MOVE(name, code, parameters, ...)                                         \
    ssize_t name parameters {                                                     \
        return !is_pipe(file) && fails(IO) ? -1 : syscall(code, __VA_ARGS__);     \
    }
#define OPEN(name, parameters, at)                                   \
    int name parameters {                                            \
        va_list rest;                                                \
        va_start(rest, flags);                                       \
        int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, int) : 0; \
        va_end(rest);                                                \
        return fails(IO) ? -1 : (int)syscall(SYS_openat, at, path, flags, mode); \
    }
OPEN(open, (const char *path, int flags, ...), AT_FDCWD)
OPEN(open64, (const char *path, int flags, ...), AT_FDCWD)
OPEN(openat, (int at, const char *path, int flags, ...), at)
OPEN(openat64, (int at, const char *path, int flags, ...), at)
MOVE(read, SYS_read, (int file, void *to, size_t size), file, to, size)
MOVE(pread, SYS_pread64, (int file, void *to, size_t n, off_t at), file, to, n, at)
MOVE(pread64, SYS_pread64, (int file, void *to, size_t n, off64_t at), file, to, n, at)
MOVE(write, SYS_write, (int file, const void *from, size_t n), file, from, n)
MOVE(pwrite, SYS_pwrite64, (int file, const void *from, size_t n, off_t at), file, from, n, at)
MOVE(pwrite64, SYS_pwrite64, (int file, const void *from, size_t n, off64_t at), file, from, n, at)
MOVE(writev, SYS_writev, (int file, const struct iovec *from, int n), file, from, n)
CALL(int, fsync, SYS_fsync, (int file), file)
CALL(int, fdatasync, SYS_fdatasync, (int file), file)
CALL(int, ftruncate, SYS_ftruncate, (int file, off_t size), file, size)
CALL(int, ftruncate64, SYS_ftruncate, (int file, off64_t size), file, size)
CALL(int, rename, SYS_renameat2, (const char *from, const char *to), AT_FDCWD, from, AT_FDCWD, to, 0)
CALL(int, mkdir, SYS_mkdirat, (const char *path, mode_t mode), AT_FDCWD, path, mode)
CALL(int, unlink, SYS_unlinkat, (const char *path), AT_FDCWD, path, 0)
CALL(int, unlinkat, SYS_unlinkat, (int at, const char *path, int flags), at, path, flags)
CALL(int, rmdir, SYS_unlinkat, (const char *path), AT_FDCWD, path, AT_REMOVEDIR)

/* Arrays, whoever allocates them. */
#define LARGE (1 << 15)
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
void *malloc(size_t n) { return n >= LARGE && fails(ARRAY) ? NULL : __libc_malloc(n); }
void *calloc(size_t n, size_t size) {
    return n * size >= LARGE && fails(ARRAY) ? NULL : __libc_calloc(n, size);
}
void *realloc(void *old, size_t n) {
    return n >= LARGE && fails(ARRAY) ? NULL : __libc_realloc(old, n);
}

/* Objects of Python: as _testcapi.set_nomemory, which cannot say how many there were. */
typedef struct {
    void *context;
    void *(*malloc)(void *, size_t);
    void *(*calloc)(void *, size_t, size_t);
    void *(*realloc)(void *, void *, size_t);
    void (*free)(void *, void *);
} Allocator;
extern void PyMem_GetAllocator(int, Allocator *) __attribute__((weak));
extern void PyMem_SetAllocator(int, Allocator *) __attribute__((weak));
static Allocator before[3];
static void *python_malloc(void *of, size_t n) {
    return fails(MEMORY) ? NULL : ((Allocator *)of)->malloc(((Allocator *)of)->context, n);
}
static void *python_calloc(void *of, size_t n, size_t size) {
    return fails(MEMORY) ? NULL : ((Allocator *)of)->calloc(((Allocator *)of)->context, n, size);
}
static void *python_realloc(void *of, void *old, size_t n) {
    return fails(MEMORY) ? NULL : ((Allocator *)of)->realloc(((Allocator *)of)->context, old, n);
}
static void python_free(void *of, void *old) {
    ((Allocator *)of)->free(((Allocator *)of)->context, old);
}

void arm(int kind, long n, int error) {
    for (int domain = 0; kind == MEMORY && domain < 3; domain++) {
        PyMem_GetAllocator(domain, &before[domain]);
        Allocator own = {&before[domain], python_malloc, python_calloc, python_realloc, python_free};
        PyMem_SetAllocator(domain, &own);
    }
    number = error;
    failing[kind] = n;
}
long counted(int kind) { return calls[kind]; }
