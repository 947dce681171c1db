import type { Cgroups } from './cgroup';

/** A run's uid inside its own user namespace. Outside it is the executor's own uid. */
export const INNER_UID = 1000;

/** Files shared by every sandbox of this executor. All of them are readable by the executor's uid. */
export interface SandboxFiles {
  /** zygote.py and its modules. */
  pythonDir: string;
  /** `<digest>/` for each unpacked version of code and each set of dependencies. */
  storeDir: string;
  /** Sockets and filters of the zygotes. */
  runDir: string;
  /** Becomes /etc: passwd, group, hosts, and the machine's certificates. */
  etcDir: string;
  /**
   * The seccomp programs (seccomp.ts): for processes sealed by bubblewrap alone, for processes that start runs, and
   * additionally for runs.
   */
  filterFile: string;
  zygoteFilterFile: string;
  childFilterFile: string;
  /** Additionally, for the runs of a warm sandbox. */
  warmFilterFile: string;
  /** Contains the egress proxy's socket `s`. */
  egressDir: string;
}

export interface SandboxSettings extends SandboxFiles {
  bwrap: string;
  /** The real interpreter, never a shim: a pyenv shim costs 75 ms at each start. */
  python: string;
  /** Read-only in every sandbox: the system's programs, and the interpreter's prefix if it is elsewhere. */
  readOnlyPaths: string[];
  /** Number of sealed children kept ready, and of concurrent runs. */
  slots: number;
  /** Memory of all warm sandboxes together. 0: there are none. */
  warmBytes: number;
  /** Null where no tree is writable: the memory of a run is then polled. */
  cgroups: Cgroups | null;
  /** Set if this process stays root (tests do): sandboxes are then started as this uid, never as root. */
  runAs: { uid: number; gid: number } | null;
  /** A zygote is replaced after this many forks or this long, for a new memory layout and hash seed. */
  recycleForks: number;
  recycleMs: number;
}

/**
 * Modules that runs usually need. None of them may start a thread or have a random generator whose state forks would
 * share.
 */
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

/** Limits that are the same for every run and cannot be set by a job. */
export const FIXED_LIMITS = { NOFILE: 256, CORE: 0, MEMLOCK: 65_536, MSGQUEUE: 0, SIGPENDING: 256 };

/** Initial size in a waiting child; for a job with another size, /tmp is remounted. */
export const TMP_BYTES_DEFAULT = 64 << 20;
export const TMP_INODES = 4_096;

/** Builds the settings with which zygote.py builds a child with a /tmp of this size. */
export const buildChildConfig = (tmpBytes: number) => ({
  uid: INNER_UID,
  tmpBytes,
  tmpInodes: TMP_INODES,
  limits: FIXED_LIMITS,
});

/** A child that is not ready by then is killed. */
export const READY_MS = 10_000;

/** The first frame sent to a child: the resources that its run may see and use. Created by the host alone. */
export interface SandboxSpec {
  code: string | null;
  deps: string | null;
  egress: boolean;
  tmpBytes: number;
  cpuSeconds: number;
  limits: { DATA: number; NPROC: number; FSIZE: number };
  /**
   * Read-only at /tmp/contexts/<name>; the original of a writeable one at /tmp/.contexts/<name>, for the harness to
   * copy.
   */
  contexts?: { name: string; digest: string; writeable: boolean }[];
}
