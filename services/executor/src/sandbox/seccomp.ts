/**
 * Builds classic-BPF seccomp filters without dependencies.
 *
 * Two layers, because seccomp filters accumulate and are inherited over fork:
 *   zygote  system calls that nothing here ever needs (ptrace, bpf, keyctl, io_uring, userfaultfd ...). Applied once by
 *           `bwrap --seccomp`, so a child gets it for free.
 *   child   those that the zygote still needs to build a child (namespaces, mounts, host name). Short, so that it is
 *           cheap to load in every child, as the very last step of sealing.
 *   warm    in a warm sandbox, additionally: what outlives the processes of a run, and what reaches its pid 1.
 * 'all' is both in one program, for a cold sandbox.
 */
export type SeccompLayer = 'zygote' | 'child' | 'warm' | 'all';

interface Architecture {
  /** AUDIT_ARCH_* of linux/audit.h. */
  audit: number;
  /** Column of its numbers in the tables below. */
  column: 0 | 1;
  /** x86-64 has a second set of numbers (x32) that would pass every comparison below. */
  x32: boolean;
}

const ARCHITECTURES: Record<string, Architecture> = {
  x64: { audit: 0xc000003e, column: 0, x32: true },
  arm64: { audit: 0xc00000b7, column: 1, x32: false },
};

/** Null where there is no such call. From 424 on, a number is the same on every architecture. */
type SyscallNumbers = [x64: number, arm64: number | null];

// Numbers from linux/arch/x86/entry/syscalls/syscall_64.tbl and linux/include/uapi/asm-generic/unistd.h.
/** Calls with some denied arguments. */
const CONDITIONALLY_DENIED = {
  clone: [56, 220],
  clone3: [435, 435],
  socket: [41, 198],
  socketpair: [53, 199],
  setsockopt: [54, 208],
  fcntl: [72, 25],
  ioctl: [16, 29],
  prlimit64: [302, 261],
  execve: [59, 221],
  execveat: [322, 281],
  setpriority: [141, 140],
  ioprio_set: [251, 30],
} satisfies Record<string, [x64: number, arm64: number]>;

export const ALWAYS_DENIED: Record<string, SyscallNumbers> = {
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  kcmp: [312, 272],
  pidfd_getfd: [438, 438],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  init_module: [175, 105],
  delete_module: [176, 106],
  finit_module: [313, 273],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  reboot: [169, 142],
  swapon: [167, 224],
  swapoff: [168, 225],
  iopl: [172, null],
  ioperm: [173, null],
  modify_ldt: [154, null],
  personality: [135, 92],
  acct: [163, 89],
  syslog: [103, 116],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  adjtimex: [159, 171],
  clock_adjtime: [305, 266],
  open_by_handle_at: [304, 265],
  name_to_handle_at: [303, 264],
  lookup_dcookie: [212, 18],
  uselib: [134, null],
  vhangup: [153, 58],
  inotify_init: [253, null],
  inotify_init1: [294, 26],
  inotify_add_watch: [254, 27],
  fanotify_init: [300, 262],
  fanotify_mark: [301, 263],
  move_pages: [279, 239],
  migrate_pages: [256, 238],
  mbind: [237, 235],
  set_mempolicy: [238, 237],
  process_madvise: [440, 440],
  process_mrelease: [448, 448],
  memfd_secret: [447, 447],
  nfsservctl: [180, 42],
  _sysctl: [156, null],
  ustat: [136, null],
  sysfs: [139, null],
};

export const SEALING: Record<string, SyscallNumbers> = {
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  open_tree_attr: [467, 467],
  unshare: [272, 97],
  setns: [308, 268],
  sethostname: [170, 161],
  setdomainname: [171, 162],
};

/** System V objects and message queues stay until they are removed. */
const PERSISTENT: Record<string, SyscallNumbers> = {
  shmget: [29, 194],
  shmat: [30, 196],
  shmctl: [31, 195],
  semget: [64, 190],
  semop: [65, 193],
  semctl: [66, 191],
  semtimedop: [220, 192],
  msgget: [68, 186],
  msgsnd: [69, 189],
  msgrcv: [70, 188],
  msgctl: [71, 187],
  mq_open: [240, 180],
};

/** Their first argument is a process. */
const SCHEDULING = {
  sched_setparam: [142, 118],
  sched_setscheduler: [144, 119],
  sched_setaffinity: [203, 122],
  sched_setattr: [314, 274],
} satisfies Record<string, [x64: number, arm64: number]>;

const LD = 0x20;
const JEQ = 0x15;
const JGE = 0x35;
const JSET = 0x45;
const RET = 0x06;
const ALLOW = 0x7fff0000;
const KILL_PROCESS = 0x80000000;
const returnErrno = (number: number) => 0x00050000 | number;
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
const PRIO_PROCESS = 0;
const IOPRIO_WHO_PROCESS = 1;
/** The first process of a warm sandbox. */
const FORKING_PID = 1;
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

/** Builds the program as bytes, little-endian like both supported architectures. */
export function buildFilter(layer: SeccompLayer, arch: string = process.arch): Buffer {
  if (layer === 'warm') return buildProgram(arch, denyBetweenRuns);
  return buildProgram(arch, (column, emit) => {
    if (layer !== 'child') deny(ALWAYS_DENIED, column, emit);
    if (layer !== 'zygote') deny(SEALING, column, emit);
    if (layer !== 'zygote') {
      // clone3 takes its flags by pointer, which a filter cannot read: glibc falls back to clone on ENOSYS.
      emit(JEQ, 0, 1, CONDITIONALLY_DENIED.clone3[column]);
      emit(RET, 0, 0, returnErrno(ENOSYS));
      emit(JEQ, 0, 4, CONDITIONALLY_DENIED.clone[column]);
      emit(LD, 0, 0, AT_ARG0);
      emit(JSET, 0, 1, CLONE_NEW_ANY);
      emit(RET, 0, 0, returnErrno(EPERM));
      emit(RET, 0, 0, ALLOW);
    }
    if (layer !== 'child') {
      for (const number of [CONDITIONALLY_DENIED.socket[column], CONDITIONALLY_DENIED.socketpair[column]]) {
        emit(JEQ, 0, 6, number);
        emit(LD, 0, 0, AT_ARG0);
        emit(JEQ, 3, 0, AF_UNIX);
        emit(JEQ, 2, 0, AF_INET);
        emit(JEQ, 1, 0, AF_INET6);
        emit(RET, 0, 0, returnErrno(EAFNOSUPPORT));
        emit(RET, 0, 0, ALLOW);
      }
      for (const [number, ...refused] of [
        [CONDITIONALLY_DENIED.ioctl[column], TIOCSTI, TIOCLINUX],
        [CONDITIONALLY_DENIED.fcntl[column], F_SETLEASE, F_NOTIFY],
      ] as const) {
        emit(JEQ, 0, 5, number);
        emit(LD, 0, 0, AT_ARG1);
        emit(JEQ, 1, 0, refused[0]);
        emit(JEQ, 0, 1, refused[1]);
        emit(RET, 0, 0, returnErrno(EPERM));
        emit(RET, 0, 0, ALLOW);
      }
      // Only limits of the calling process: a program that an agent started runs as the same user as the agent.
      emit(JEQ, 0, 4, CONDITIONALLY_DENIED.prlimit64[column]);
      emit(LD, 0, 0, AT_ARG0);
      emit(JEQ, 1, 0, 0);
      emit(RET, 0, 0, returnErrno(EPERM));
      emit(RET, 0, 0, ALLOW);
      emit(JEQ, 0, 6, CONDITIONALLY_DENIED.setsockopt[column]);
      emit(LD, 0, 0, AT_ARG1);
      emit(JEQ, 0, 3, IPPROTO_IPV6);
      emit(LD, 0, 0, AT_ARG2);
      emit(JEQ, 0, 1, IPV6_FLOWLABEL_MGR);
      emit(RET, 0, 0, returnErrno(EPERM));
      emit(RET, 0, 0, ALLOW);
    }
  });
}

/** Denies calls, whatever their arguments. */
function deny(calls: Record<string, SyscallNumbers>, column: 0 | 1, emit: Emit): void {
  for (const { [column]: number } of Object.values(calls)) {
    if (number === null) continue;
    emit(JEQ, 0, 1, number);
    emit(RET, 0, 0, returnErrno(EPERM));
  }
}

/** Denies whatever could persist until the next run, in the kernel or in the process that forks it (warm.py). */
function denyBetweenRuns(column: 0 | 1, emit: Emit): void {
  deny(PERSISTENT, column, emit);
  for (const { [column]: number } of Object.values(SCHEDULING)) {
    emit(JEQ, 0, 4, number);
    emit(LD, 0, 0, AT_ARG0);
    emit(JEQ, 0, 1, FORKING_PID);
    emit(RET, 0, 0, returnErrno(EPERM));
    emit(RET, 0, 0, ALLOW);
  }
  // Only for processes: a group or a user could have that process as a member.
  for (const [number, process] of [
    [CONDITIONALLY_DENIED.setpriority[column], PRIO_PROCESS],
    [CONDITIONALLY_DENIED.ioprio_set[column], IOPRIO_WHO_PROCESS],
  ] as const) {
    emit(JEQ, 0, 6, number);
    emit(LD, 0, 0, AT_ARG0);
    emit(JEQ, 0, 2, process);
    emit(LD, 0, 0, AT_ARG1);
    emit(JEQ, 0, 1, FORKING_PID);
    emit(RET, 0, 0, returnErrno(EPERM));
    emit(RET, 0, 0, ALLOW);
  }
}

/**
 * Builds the filter of a process that must not start any further program, even if it is exploited.
 * @param allowedNameAddress lets it start the program whose name is at this address: see sole_program.py
 */
export function buildNoExecFilter(allowedNameAddress?: number, arch: string = process.arch): Buffer {
  return buildProgram(arch, (column, emit) => {
    emit(JEQ, 0, 1, CONDITIONALLY_DENIED.execveat[column]);
    emit(RET, 0, 0, returnErrno(EPERM));
    if (allowedNameAddress === undefined) {
      emit(JEQ, 0, 1, CONDITIONALLY_DENIED.execve[column]);
    } else {
      emit(JEQ, 0, 6, CONDITIONALLY_DENIED.execve[column]);
      emit(LD, 0, 0, AT_ARG0);
      emit(JEQ, 0, 3, allowedNameAddress % 2 ** 32);
      emit(LD, 0, 0, AT_ARG0 + 4);
      emit(JEQ, 0, 1, Math.floor(allowedNameAddress / 2 ** 32));
      emit(RET, 0, 0, ALLOW);
    }
    emit(RET, 0, 0, returnErrno(EPERM));
  });
}

/** @param checks runs with the system call number loaded; falling through allows the call */
function buildProgram(arch: string, checks: (column: 0 | 1, emit: Emit) => void): Buffer {
  const architecture = ARCHITECTURES[arch];
  if (!architecture) throw new Error(`no seccomp table for ${arch}: the sandbox runs only on x64 and arm64`);
  const instructions: Instruction[] = [];
  const emit: Emit = (code, jumpTrue, jumpFalse, k) => instructions.push([code, jumpTrue, jumpFalse, k >>> 0]);
  emit(LD, 0, 0, AT_ARCH);
  emit(JEQ, 1, 0, architecture.audit);
  emit(RET, 0, 0, KILL_PROCESS); // a foreign ABI, such as int 0x80
  emit(LD, 0, 0, AT_NUMBER);
  if (architecture.x32) {
    emit(JGE, 0, 1, 0x40000000);
    emit(RET, 0, 0, returnErrno(ENOSYS));
  }
  checks(architecture.column, emit);
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
