/*=========================================================================
 *
 *  Copyright NumFOCUS
 *
 *  Licensed under the Apache License, Version 2.0 (the "License");
 *  you may not use this file except in compliance with the License.
 *  You may obtain a copy of the License at
 *
 *         https://www.apache.org/licenses/LICENSE-2.0.txt
 *
 *  Unless required by applicable law or agreed to in writing, software
 *  distributed under the License is distributed on an "AS IS" BASIS,
 *  WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 *  See the License for the specific language governing permissions and
 *  limitations under the License.
 *
 *=========================================================================*/

/* Runs a program, counts the system calls that it makes on files below a folder, and disturbs one of them:
 *
 *   faults FOLDER WHICH MODE N LOG PROGRAM [ARGUMENT...]
 *
 * WHICH: all (calls on files), writes (only those that change something), resources (memory and threads).
 * MODE: none, kill (SIGKILL before the call, to the process that makes it), killall (to all processes), term or int (a
 * signal before the call), short (half of what is written or read), or the error that the call fails with: ENOSPC, EIO,
 * EACCES, EINTR, EMFILE, ENOMEM, EAGAIN, EDQUOT. With a + behind it, all later calls of the same kind fail, too, as on
 * a full disk. N: the number of the call, from 1. LOG: a file that gets a line for each counted call, or - for none.
 *
 * Calls are those that the kernel sees, of all threads and children, whatever library makes them: the kernel's filter
 * (seccomp) stops the program at them, and only there. Ends as the program does. */

#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)
typedef struct user_regs_struct Registers;
static long
Number(const Registers * r)
{
  return (long)r->orig_rax;
}
static unsigned long
Argument(const Registers * r, int n)
{
  const unsigned long a[] = { r->rdi, r->rsi, r->rdx, r->r10, r->r8, r->r9 };
  return a[n];
}
static void
SetThird(Registers * r, unsigned long value)
{
  r->rdx = value;
}
#  define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
typedef struct user_regs_struct Registers;
static long
Number(const Registers * r)
{
  return (long)r->regs[8];
}
static unsigned long
Argument(const Registers * r, int n)
{
  return r->regs[n];
}
static void
SetThird(Registers * r, unsigned long value)
{
  r->regs[2] = value;
}
#  define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#  error "faults.c knows the registers of x86-64 and of 64-bit ARM"
#endif

/* What a call works on. */
enum Subject
{
  PathFirst,  /* a path is the first argument */
  PathSecond, /* a folder, then a path */
  PathLast,   /* a path, folder, path: symlinkat */
  OpenedFile, /* the number of an open file */
  Resource
};

struct Call
{
  long         number;
  const char * name;
  enum Subject subject;
  int          changes; /* 2: if its flags say so */
};

static const struct Call Calls[] = {
#ifdef SYS_open
  { SYS_open, "open", PathFirst, 2 },
  { SYS_creat, "creat", PathFirst, 1 },
  { SYS_rename, "rename", PathFirst, 1 },
  { SYS_unlink, "unlink", PathFirst, 1 },
  { SYS_mkdir, "mkdir", PathFirst, 1 },
  { SYS_rmdir, "rmdir", PathFirst, 1 },
  { SYS_link, "link", PathFirst, 1 },
  { SYS_chmod, "chmod", PathFirst, 1 },
  { SYS_symlink, "symlink", PathSecond, 1 },
#endif
#ifdef SYS_renameat
  { SYS_renameat, "renameat", PathSecond, 1 },
#endif
  { SYS_openat, "openat", PathSecond, 2 },
  { SYS_renameat2, "renameat2", PathSecond, 1 },
  { SYS_unlinkat, "unlinkat", PathSecond, 1 },
  { SYS_mkdirat, "mkdirat", PathSecond, 1 },
  { SYS_linkat, "linkat", PathSecond, 1 },
  { SYS_symlinkat, "symlinkat", PathLast, 1 },
  { SYS_truncate, "truncate", PathFirst, 1 },
  { SYS_read, "read", OpenedFile, 0 },
  { SYS_pread64, "pread64", OpenedFile, 0 },
  { SYS_readv, "readv", OpenedFile, 0 },
  { SYS_getdents64, "getdents64", OpenedFile, 0 },
  { SYS_write, "write", OpenedFile, 1 },
  { SYS_pwrite64, "pwrite64", OpenedFile, 1 },
  { SYS_writev, "writev", OpenedFile, 1 },
  { SYS_pwritev, "pwritev", OpenedFile, 1 },
  { SYS_fsync, "fsync", OpenedFile, 1 },
  { SYS_fdatasync, "fdatasync", OpenedFile, 1 },
  { SYS_ftruncate, "ftruncate", OpenedFile, 1 },
  { SYS_fallocate, "fallocate", OpenedFile, 1 },
  { SYS_fchmod, "fchmod", OpenedFile, 1 },
  { SYS_flock, "flock", OpenedFile, 1 },
  { SYS_copy_file_range, "copy_file_range", OpenedFile, 1 },
  { SYS_sendfile, "sendfile", OpenedFile, 1 },
  { SYS_close, "close", OpenedFile, 1 },
  { SYS_mmap, "mmap", Resource, 0 },
  { SYS_clone, "clone", Resource, 0 },
  { SYS_clone3, "clone3", Resource, 0 },
};
enum
{
  NumberOfCalls = sizeof(Calls) / sizeof(Calls[0])
};

static struct
{
  char         folder[PATH_MAX];
  int          writesOnly, resources, seenFile;
  int          error, signal, isShort, isSticky, isForAll;
  long         at, count;
  const char * stickyName;
  FILE *       log;
  pid_t        child;
} theState;

static const struct
{
  const char * name;
  int          number;
} Errors[] = { { "ENOSPC", ENOSPC }, { "EIO", EIO },       { "EACCES", EACCES }, { "EINTR", EINTR },
               { "EMFILE", EMFILE }, { "ENOMEM", ENOMEM }, { "EAGAIN", EAGAIN }, { "EDQUOT", EDQUOT } };

static void
Die(const char * what)
{
  fprintf(stderr, "faults: %s: %s\n", what, strerror(errno));
  exit(125);
}

/* Lets the kernel stop this process at the calls of the table. */
static void
InstallFilter(void)
{
  struct sock_filter program[NumberOfCalls + 6];
  unsigned short     n = 0;
  const int          own = theState.resources;
  program[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
  program[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
  program[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  program[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (int i = 0; i < NumberOfCalls; ++i)
  {
    if (Calls[i].subject == Resource && !own)
    {
      continue;
    }
    program[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)Calls[i].number, 0, 0);
  }
  const unsigned short traced = (unsigned short)(n + 1);
  for (unsigned short i = 4; i < n; ++i)
  {
    program[i].jt = (unsigned char)(traced - i - 1);
  }
  program[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  program[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
  const struct sock_fprog filter = { n, program };
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
  {
    Die("no filter of system calls");
  }
}

/* What a link of /proc says; an empty text if nothing. */
static void
ReadLink(pid_t thread, const char * name, char * text)
{
  char path[128];
  snprintf(path, sizeof(path), "/proc/%d/%s", (int)thread, name);
  const ssize_t length = readlink(path, text, PATH_MAX - 1);
  text[length > 0 ? length : 0] = 0;
}

/* A text in the memory of the program. */
static void
ReadText(pid_t thread, unsigned long from, char * text)
{
  size_t got = 0;
  while (got < PATH_MAX - 1) /* up to the end of a page at a time: the next may not be there */
  {
    const size_t       page = 4096 - ((from + got) & 4095), room = PATH_MAX - 1 - got;
    const struct iovec here = { text + got, page < room ? page : room };
    const struct iovec there = { (void *)(from + got), here.iov_len };
    const ssize_t      now = process_vm_readv(thread, &here, 1, &there, 1, 0);
    if (now <= 0 || memchr(text + got, 0, (size_t)now))
    {
      got += now > 0 ? (size_t)now : 0;
      break;
    }
    got += (size_t)now;
  }
  text[got < PATH_MAX ? got : PATH_MAX - 1] = 0;
}

/* The path that a call is about. */
static void
FindPath(pid_t thread, const struct Call * call, const Registers * registers, char * path)
{
  char link[64], name[PATH_MAX];
  if (call->subject == OpenedFile)
  {
    snprintf(link, sizeof(link), "fd/%d", (int)Argument(registers, 0));
    ReadLink(thread, link, path);
    return;
  }
  const int where = call->subject == PathFirst ? 0 : call->subject == PathSecond ? 1 : 2;
  ReadText(thread, Argument(registers, where), name);
  if (name[0] == '/')
  {
    strcpy(path, name);
    return;
  }
  const int folder = where > 0 && strcmp(call->name, "symlink") != 0 ? (int)Argument(registers, where - 1) : AT_FDCWD;
  snprintf(link, sizeof(link), "fd/%d", folder);
  ReadLink(thread, folder == AT_FDCWD ? "cwd" : link, path);
  const size_t length = strlen(path);
  snprintf(path + length, PATH_MAX - length, "/%s", name);
}

static int
IsBelow(const char * path, const char * folder)
{
  const size_t length = strlen(folder);
  return strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == 0);
}

/* Whether a call counts; `path` is what it is about. */
static int
IsCounted(pid_t thread, const struct Call * call, const Registers * registers, char * path)
{
  path[0] = 0;
  if (call->subject == Resource)
  {
    const unsigned long Large = 1 << 16;
    const int           isMemory = call->number == SYS_mmap;
    if (!theState.seenFile ||
        (isMemory && (!(Argument(registers, 3) & MAP_ANONYMOUS) || Argument(registers, 1) < Large)))
    {
      return 0; /* the program is being loaded, or a library maps a file */
    }
    strcpy(path, "-");
    return 1;
  }
  FindPath(thread, call, registers, path);
  if (!IsBelow(path, theState.folder) || strstr(path, ".so")) /* the loader may look there for libraries */
  {
    return 0;
  }
  theState.seenFile = 1;
  int changes = call->changes == 1;
  if (call->changes == 2)
  {
    const unsigned long flags = Argument(registers, call->subject == PathFirst ? 1 : 2);
    changes = (flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)) != 0;
  }
  return !theState.resources && (changes || !theState.writesOnly);
}

static void
GetRegisters(pid_t thread, Registers * registers)
{
  struct iovec all = { registers, sizeof(*registers) };
  ptrace(PTRACE_GETREGSET, thread, (void *)NT_PRSTATUS, &all);
}

static void
SetRegisters(pid_t thread, Registers * registers)
{
  struct iovec all = { registers, sizeof(*registers) };
  ptrace(PTRACE_SETREGSET, thread, (void *)NT_PRSTATUS, &all);
}

/* Skips the call, which returns an error. */
static void
FailCall(pid_t thread, Registers * registers, int error)
{
#if defined(__x86_64__)
  registers->orig_rax = (unsigned long long)-1;
  registers->rax = (unsigned long long)-error;
  SetRegisters(thread, registers);
#else
  int          none = -1;
  struct iovec number = { &none, sizeof(none) };
  ptrace(PTRACE_SETREGSET, thread, (void *)NT_ARM_SYSTEM_CALL, &number);
  registers->regs[0] = (unsigned long)-error;
  SetRegisters(thread, registers);
#endif
}

static pid_t
ProcessOf(pid_t thread)
{
  char path[64], line[256];
  snprintf(path, sizeof(path), "/proc/%d/status", (int)thread);
  FILE * in = fopen(path, "r");
  int    process = thread;
  while (in && fgets(line, sizeof(line), in))
  {
    if (sscanf(line, "Tgid: %d", &process) == 1)
    {
      break;
    }
  }
  if (in)
  {
    fclose(in);
  }
  return process;
}

static void
TakeCall(pid_t thread)
{
  Registers registers;
  char      path[2 * PATH_MAX];
  GetRegisters(thread, &registers);
  const struct Call * call = Calls;
  while (call < Calls + NumberOfCalls && call->number != Number(&registers))
  {
    ++call;
  }
  if (call == Calls + NumberOfCalls || !IsCounted(thread, call, &registers, path))
  {
    return;
  }
  const long n = ++theState.count;
  if (theState.log)
  {
    fprintf(theState.log, "%ld %s %s\n", n, call->name, path);
    fflush(theState.log);
  }
  const int again = theState.isSticky && n > theState.at && theState.stickyName == call->name;
  if (n != theState.at && !again)
  {
    return;
  }
  theState.stickyName = call->name;
  if (theState.signal != 0)
  {
    kill(theState.isForAll ? theState.child : ProcessOf(thread), theState.signal);
  }
  else if (theState.isShort)
  {
    const unsigned long count = Argument(&registers, 2);
    const int           some = call->number == SYS_read || call->number == SYS_write || call->number == SYS_pread64 ||
                     call->number == SYS_pwrite64 || call->number == SYS_writev;
    if (some && count > 1)
    {
      SetThird(&registers, count / 2);
      SetRegisters(thread, &registers);
    }
  }
  else if (theState.error != 0)
  {
    FailCall(thread, &registers, theState.error);
  }
}

static void
ParseMode(char * mode)
{
  const size_t length = strlen(mode);
  if (length > 1 && mode[length - 1] == '+')
  {
    theState.isSticky = 1;
    mode[length - 1] = 0;
  }
  theState.signal = strcmp(mode, "kill") == 0   ? SIGKILL
                    : strcmp(mode, "term") == 0 ? SIGTERM
                    : strcmp(mode, "int") == 0  ? SIGINT
                                                : 0;
  theState.isForAll = strcmp(mode, "killall") == 0; /* the others end with this program */
  theState.signal = theState.isForAll ? SIGKILL : theState.signal;
  theState.isShort = strcmp(mode, "short") == 0;
  for (size_t i = 0; i < sizeof(Errors) / sizeof(Errors[0]); ++i)
  {
    theState.error = strcmp(mode, Errors[i].name) == 0 ? Errors[i].number : theState.error;
  }
  if (!theState.signal && !theState.isShort && !theState.error && strcmp(mode, "none") != 0)
  {
    fprintf(stderr, "faults: what is the mode '%s'?\n", mode);
    exit(125);
  }
}

/* Ends as the program ended. */
static void
EndAs(int status)
{
  if (WIFSIGNALED(status))
  {
    const struct rlimit none = { 0, 0 };
    setrlimit(RLIMIT_CORE, &none);
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
  }
  exit(WIFEXITED(status) ? WEXITSTATUS(status) : 125);
}

/* Each thread begins with a stop of its own, which is not for the program. */
static int
IsFirstStop(pid_t thread)
{
  enum
  {
    Most = 1 << 22
  };
  static unsigned char known[Most];
  const int            first = thread < Most && !known[thread];
  known[thread % Most] = 1;
  return first;
}

static void
Watch(pid_t child)
{
  int status = 0;
  if (waitpid(child, &status, __WALL) != child || !WIFSTOPPED(status))
  {
    Die("the program did not start");
  }
  IsFirstStop(child);
  const long options = PTRACE_O_EXITKILL | PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
                       PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC;
  if (ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)options) != 0)
  {
    Die("the program cannot be traced");
  }
  ptrace(PTRACE_CONT, child, NULL, NULL);
  for (pid_t thread; (thread = waitpid(-1, &status, __WALL)) > 0;)
  {
    if (!WIFSTOPPED(status))
    {
      if (thread == child)
      {
        EndAs(status);
      }
      continue;
    }
    const int event = status >> 16;
    long      passed = WSTOPSIG(status);
    if (event == PTRACE_EVENT_SECCOMP)
    {
      TakeCall(thread);
    }
    if (event != 0 || (IsFirstStop(thread) && passed == SIGSTOP))
    {
      passed = 0;
    }
    ptrace(PTRACE_CONT, thread, NULL, (void *)passed);
  }
}

int
main(int argc, char ** argv)
{
  if (argc < 7 || !realpath(argv[1], theState.folder))
  {
    fprintf(stderr, "usage: faults FOLDER all|writes|resources MODE N LOG PROGRAM [ARGUMENT...]\n");
    return 125;
  }
  theState.writesOnly = strcmp(argv[2], "writes") == 0;
  theState.resources = strcmp(argv[2], "resources") == 0;
  ParseMode(argv[3]);
  theState.at = atol(argv[4]);
  theState.log = strcmp(argv[5], "-") == 0 ? NULL : fopen(argv[5], "we");
  const pid_t child = fork();
  theState.child = child;
  if (child == 0)
  {
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    raise(SIGSTOP);
    InstallFilter();
    execvp(argv[6], argv + 6);
    Die(argv[6]);
  }
  Watch(child);
  return 125;
}
