/**
 * Classic-BPF seccomp filters, built without dependencies.
 *
 * Two layers, because seccomp filters accumulate and are inherited over fork:
 *   zygote  system calls that nothing here ever needs (ptrace, bpf, keyctl, io_uring, userfaultfd ...). Applied once by
 *           `bwrap --seccomp`, so a child gets it for free.
 *   child   those that the zygote still needs to build a child (namespaces, mounts, host name). Short, so that it is
 *           cheap to load in every child, as the very last step of sealing.
 * 'all' is both in one program, for a cold sandbox.
 */
export type SeccompLayer = 'zygote' | 'child' | 'all';

interface SyscallTable {
  /** AUDIT_ARCH_* of linux/audit.h. */
  arch: number;
  clone: number;
  clone3: number;
  socket: number;
  socketpair: number;
  setsockopt: number;
  fcntl: number;
  ioctl: number;
  execve: number;
  execveat: number;
  /** x86-64 has a second set of numbers (x32) that would pass every comparison below. */
  x32: boolean;
  never: Record<string, number>;
  sealing: Record<string, number>;
}

/** From 424 on, a number is the same on every architecture. */
const NEW_MOUNT_CALLS = {
  open_tree: 428,
  move_mount: 429,
  fsopen: 430,
  fsconfig: 431,
  fsmount: 432,
  fspick: 433,
  mount_setattr: 442,
  open_tree_attr: 467,
};

// Numbers from linux/arch/x86/entry/syscalls/syscall_64.tbl and linux/include/uapi/asm-generic/unistd.h.
const TABLES: Record<string, SyscallTable> = {
  x64: {
    arch: 0xc000003e,
    clone: 56,
    clone3: 435,
    socket: 41,
    socketpair: 53,
    setsockopt: 54,
    fcntl: 72,
    ioctl: 16,
    execve: 59,
    execveat: 322,
    x32: true,
    never: {
      ptrace: 101,
      process_vm_readv: 310,
      process_vm_writev: 311,
      kcmp: 312,
      pidfd_getfd: 438,
      add_key: 248,
      request_key: 249,
      keyctl: 250,
      bpf: 321,
      perf_event_open: 298,
      userfaultfd: 323,
      io_uring_setup: 425,
      io_uring_enter: 426,
      io_uring_register: 427,
      init_module: 175,
      delete_module: 176,
      finit_module: 313,
      kexec_load: 246,
      kexec_file_load: 320,
      reboot: 169,
      swapon: 167,
      swapoff: 168,
      iopl: 172,
      ioperm: 173,
      modify_ldt: 154,
      personality: 135,
      acct: 163,
      syslog: 103,
      quotactl: 179,
      quotactl_fd: 443,
      settimeofday: 164,
      clock_settime: 227,
      adjtimex: 159,
      clock_adjtime: 305,
      open_by_handle_at: 304,
      name_to_handle_at: 303,
      lookup_dcookie: 212,
      uselib: 134,
      vhangup: 153,
      inotify_init: 253,
      inotify_init1: 294,
      inotify_add_watch: 254,
      fanotify_init: 300,
      fanotify_mark: 301,
      move_pages: 279,
      migrate_pages: 256,
      mbind: 237,
      set_mempolicy: 238,
      memfd_secret: 447,
      nfsservctl: 180,
      _sysctl: 156,
      ustat: 136,
      sysfs: 139,
    },
    sealing: {
      mount: 165,
      umount2: 166,
      pivot_root: 155,
      chroot: 161,
      ...NEW_MOUNT_CALLS,
      unshare: 272,
      setns: 308,
      sethostname: 170,
      setdomainname: 171,
    },
  },
  arm64: {
    arch: 0xc00000b7,
    clone: 220,
    clone3: 435,
    socket: 198,
    socketpair: 199,
    setsockopt: 208,
    fcntl: 25,
    ioctl: 29,
    execve: 221,
    execveat: 281,
    x32: false,
    never: {
      ptrace: 117,
      process_vm_readv: 270,
      process_vm_writev: 271,
      kcmp: 272,
      pidfd_getfd: 438,
      add_key: 217,
      request_key: 218,
      keyctl: 219,
      bpf: 280,
      perf_event_open: 241,
      userfaultfd: 282,
      io_uring_setup: 425,
      io_uring_enter: 426,
      io_uring_register: 427,
      init_module: 105,
      delete_module: 106,
      finit_module: 273,
      kexec_load: 104,
      kexec_file_load: 294,
      reboot: 142,
      swapon: 224,
      swapoff: 225,
      personality: 92,
      acct: 89,
      syslog: 116,
      quotactl: 60,
      quotactl_fd: 443,
      settimeofday: 170,
      clock_settime: 112,
      adjtimex: 171,
      clock_adjtime: 266,
      open_by_handle_at: 265,
      name_to_handle_at: 264,
      lookup_dcookie: 18,
      vhangup: 58,
      inotify_init1: 26,
      inotify_add_watch: 27,
      fanotify_init: 262,
      fanotify_mark: 263,
      move_pages: 239,
      migrate_pages: 238,
      mbind: 235,
      set_mempolicy: 237,
      memfd_secret: 447,
      nfsservctl: 42,
    },
    sealing: {
      mount: 40,
      umount2: 39,
      pivot_root: 41,
      chroot: 51,
      ...NEW_MOUNT_CALLS,
      unshare: 97,
      setns: 268,
      sethostname: 161,
      setdomainname: 162,
    },
  },
};

const LD = 0x20;
const JEQ = 0x15;
const JGE = 0x35;
const JSET = 0x45;
const RET = 0x06;
const ALLOW = 0x7fff0000;
const KILL_PROCESS = 0x80000000;
const errno = (number: number) => 0x00050000 | number;
const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;
/** Every CLONE_NEW* flag that clone() knows. */
const CLONE_NEW_ANY = 0x7e020000;
const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
/** From linux/fcntl.h. Files of the store and of the system are the same inodes in every run. */
const F_SETLEASE = 1024;
const F_NOTIFY = 1026;
/** Flow labels belong to the network namespace, outlive the socket, and are shown by no counter: see networks.py. */
const IPPROTO_IPV6 = 41;
const IPV6_FLOWLABEL_MGR = 32;
/** Offsets in struct seccomp_data. */
const AT_NUMBER = 0;
const AT_ARCH = 4;
const AT_ARG0 = 16;
const AT_ARG1 = 24;
const AT_ARG2 = 32;

type Instruction = [code: number, jumpTrue: number, jumpFalse: number, k: number];
type Emit = (...instruction: Instruction) => void;

/** The program as bytes, little-endian like both supported architectures. */
export function buildFilter(layer: SeccompLayer, arch: string = process.arch): Buffer {
  return program(arch, (table, emit) => {
    const denied = { ...(layer !== 'child' && table.never), ...(layer !== 'zygote' && table.sealing) };
    for (const number of Object.values(denied)) {
      emit(JEQ, 0, 1, number);
      emit(RET, 0, 0, errno(EPERM));
    }
    if (layer !== 'zygote') {
      // clone3 takes its flags by pointer, which a filter cannot read: glibc falls back to clone on ENOSYS.
      emit(JEQ, 0, 1, table.clone3);
      emit(RET, 0, 0, errno(ENOSYS));
      emit(JEQ, 0, 4, table.clone);
      emit(LD, 0, 0, AT_ARG0);
      emit(JSET, 0, 1, CLONE_NEW_ANY);
      emit(RET, 0, 0, errno(EPERM));
      emit(RET, 0, 0, ALLOW);
    }
    if (layer !== 'child') {
      for (const number of [table.socket, table.socketpair]) {
        emit(JEQ, 0, 6, number);
        emit(LD, 0, 0, AT_ARG0);
        emit(JEQ, 3, 0, AF_UNIX);
        emit(JEQ, 2, 0, AF_INET);
        emit(JEQ, 1, 0, AF_INET6);
        emit(RET, 0, 0, errno(EAFNOSUPPORT));
        emit(RET, 0, 0, ALLOW);
      }
      for (const [number, ...refused] of [
        [table.ioctl, TIOCSTI, TIOCLINUX],
        [table.fcntl, F_SETLEASE, F_NOTIFY],
      ] as const) {
        emit(JEQ, 0, 5, number);
        emit(LD, 0, 0, AT_ARG1);
        emit(JEQ, 1, 0, refused[0]);
        emit(JEQ, 0, 1, refused[1]);
        emit(RET, 0, 0, errno(EPERM));
        emit(RET, 0, 0, ALLOW);
      }
      emit(JEQ, 0, 6, table.setsockopt);
      emit(LD, 0, 0, AT_ARG1);
      emit(JEQ, 0, 3, IPPROTO_IPV6);
      emit(LD, 0, 0, AT_ARG2);
      emit(JEQ, 0, 1, IPV6_FLOWLABEL_MGR);
      emit(RET, 0, 0, errno(EPERM));
      emit(RET, 0, 0, ALLOW);
    }
  });
}

/** For a process that must not start any further program, even if it is exploited. */
export function buildNoExecFilter(arch: string = process.arch): Buffer {
  return program(arch, ({ execve, execveat }, emit) => {
    emit(JEQ, 1, 0, execve);
    emit(JEQ, 0, 1, execveat);
    emit(RET, 0, 0, errno(EPERM));
  });
}

/** @param checks runs with the system call number loaded; falling through allows the call */
function program(arch: string, checks: (table: SyscallTable, emit: Emit) => void): Buffer {
  const table = TABLES[arch];
  if (!table) throw new Error(`no seccomp table for ${arch}: the sandbox runs on x64 and arm64`);
  const instructions: Instruction[] = [];
  const emit: Emit = (code, jumpTrue, jumpFalse, k) => instructions.push([code, jumpTrue, jumpFalse, k >>> 0]);
  emit(LD, 0, 0, AT_ARCH);
  emit(JEQ, 1, 0, table.arch);
  emit(RET, 0, 0, KILL_PROCESS); // a foreign ABI, such as int 0x80
  emit(LD, 0, 0, AT_NUMBER);
  if (table.x32) {
    emit(JGE, 0, 1, 0x40000000);
    emit(RET, 0, 0, errno(ENOSYS));
  }
  checks(table, emit);
  emit(RET, 0, 0, ALLOW);
  return assemble(instructions);
}

/** struct sock_filter: u16 code, u8 jt, u8 jf, u32 k. */
function assemble(instructions: Instruction[]): Buffer {
  const out = Buffer.alloc(instructions.length * 8);
  instructions.forEach(([code, jumpTrue, jumpFalse, k], i) => {
    out.writeUInt16LE(code, i * 8);
    out[i * 8 + 2] = jumpTrue;
    out[i * 8 + 3] = jumpFalse;
    out.writeUInt32LE(k, i * 8 + 4);
  });
  return out;
}
