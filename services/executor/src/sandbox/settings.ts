import type { Cgroups } from './cgroup';

/** Whom a run believes to be inside its own user namespace. Outside it is the executor's own uid. */
export const INNER_UID = 1000;

/** Where things lie that every sandbox of this executor shares. All of it is readable by the executor's uid. */
export interface SandboxSettings {
  bwrap: string;
  /** The real interpreter, never a shim: a pyenv shim costs 75 ms at each start. */
  python: string;
  /** Read-only in every sandbox: the system's programs, and the interpreter's prefix where it lies elsewhere. */
  readOnlyPaths: string[];
  /** zygote.py and its modules. */
  pythonDir: string;
  /** `<digest>/` for each unpacked version of code and each set of dependencies. */
  storeDir: string;
  /** Sockets and filters of the zygotes. */
  runDir: string;
  /** Becomes /etc: passwd, group, hosts, and the certificates of the machine. */
  etcDir: string;
  /** The seccomp programs: of what bubblewrap alone seals, of what starts runs, and of runs besides. */
  filterFile: string;
  zygoteFilterFile: string;
  childFilterFile: string;
  /** Holds the egress proxy's socket `s`. */
  egressDir: string;
  /** Sealed children kept ready; also how many runs go on at once. */
  slots: number;
  /** Null where no tree is writable: the memory of a run is then polled. */
  cgroups: Cgroups | null;
  /** Set where this process is root and stays it (tests do): sandboxes are then started as this uid, never as root. */
  runAs: { uid: number; gid: number } | null;
  /** A zygote is replaced after so many forks or so long: a new memory layout and hash seed now and then. */
  recycleForks: number;
  recycleMs: number;
}

/** Modules that runs usually need. None of them may start a thread or own a random generator that forks would share. */
export const PRELOAD = [
  'json',
  'inspect',
  'traceback',
  'importlib',
  'importlib.util',
  'asyncio',
  'socket',
  'ssl',
  'logging',
  'datetime',
  're',
  'zipfile',
  'random',
  'fcntl',
  'urllib.request',
  'http.client',
  'email.message',
  'concurrent.futures',
  'pathlib',
  'typing',
  'dataclasses',
  'decimal',
  'uuid',
  'hashlib',
  'subprocess',
  'csv',
  'mimetypes',
  'statistics',
  'collections',
  'base64',
];

/** Limits that are the same for every run: what no job has a say in. */
export const FIXED_LIMITS = { NOFILE: 256, CORE: 0, MEMLOCK: 65_536, MSGQUEUE: 0, SIGPENDING: 256 };

/** What a waiting child is built with; a job with another size of /tmp has it remounted. */
export const TMP_BYTES_DEFAULT = 64 << 20;
export const TMP_INODES = 4_096;

/** Settings with which zygote.py builds a child with a /tmp of this size. */
export const childConfig = (tmpBytes: number) => ({
  uid: INNER_UID,
  tmpBytes,
  tmpInodes: TMP_INODES,
  limits: FIXED_LIMITS,
});

/** A child that is not ready by then is given up. */
export const READY_MS = 5_000;

/** The first frame that a child gets: what it may see and use. Made by the host alone. */
export interface SandboxSpec {
  code: string | null;
  deps: string | null;
  egress: boolean;
  tmpBytes: number;
  cpuSeconds: number;
  limits: { DATA: number; NPROC: number; FSIZE: number };
  /** Read-only at /tmp/contexts/<name>; the original of a writeable one at /tmp/.contexts/<name>, for the harness to copy. */
  contexts?: { name: string; digest: string; writeable: boolean }[];
}
