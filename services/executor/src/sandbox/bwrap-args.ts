/** How bubblewrap lays out each kind of sandbox. */
import path from 'node:path';
import { FIXED_LIMITS, INNER_UID, type SandboxSettings, type SandboxSpec } from './settings';

/** Descriptors that every sandbox is started with: 0-2, the control channel, bwrap's status, the seccomp program, others. */
export const CONTROL_FD = 3;
export const STATUS_FD = 4;
const SECCOMP_FD = 5;
export const INHERITED_FD = 6;

/** bubblewrap can't bind its own /tmp there, as a zygote's child does: a second, small cap. */
const SHM_BYTES = 16 << 20;

const ENVIRONMENT = {
  PATH: '/usr/bin',
  HOME: '/tmp',
  LANG: 'C.UTF-8',
  TMPDIR: '/tmp',
  SSL_CERT_FILE: '/etc/ssl/certs/ca-certificates.crt',
  REQUESTS_CA_BUNDLE: '/etc/ssl/certs/ca-certificates.crt',
};

/** The long-lived parent: sees the store and the sockets, and never user code. Its children mount over what they need. */
export function zygoteArgs(settings: SandboxSettings, zygoteDir: string, config: object): string[] {
  return [
    ...isolated(settings),
    ...['--dir', '/tmp', '--dir', '/code', '--dir', '/deps', '--dir', '/egress', '--dir', '/empty'],
    ...['--ro-bind', path.join(zygoteDir, 'ctl'), '/host/ctl', '--ro-bind', settings.storeDir, '/host/store'],
    ...[
      '--ro-bind',
      settings.pythonDir,
      '/host/python',
      '--ro-bind',
      path.join(zygoteDir, 'child.bpf'),
      '/host/child.bpf',
    ],
    ...['--ro-bind', settings.egressDir, '/host/egress'],
    ...['--remount-ro', '/', '--chdir', '/'],
    ...started(settings, '/host/python/zygote.py', config),
  ];
}

/** One run, sealed by bubblewrap itself: `isolation: process`. */
export function coldArgs(settings: SandboxSettings, spec: SandboxSpec): string[] {
  return [
    ...isolated(settings),
    ...['--size', String(spec.tmpBytes), '--tmpfs', '/tmp', '--size', String(SHM_BYTES), '--tmpfs', '/dev/shm'],
    ...['--ro-bind', settings.pythonDir, '/gantry'],
    ...(spec.code ? ['--ro-bind', path.join(settings.storeDir, spec.code), '/code'] : ['--dir', '/code']),
    ...(spec.deps ? ['--ro-bind', path.join(settings.storeDir, spec.deps), '/deps'] : ['--dir', '/deps']),
    ...(spec.egress ? ['--ro-bind', settings.egressDir, '/egress'] : []),
    ...(spec.contexts ?? []).flatMap(({ name, digest, writeable }) => [
      ...['--ro-bind', path.join(settings.storeDir, digest), `/tmp/${writeable ? '.contexts' : 'contexts'}/${name}`],
    ]),
    ...['--remount-ro', '/', '--chdir', '/tmp'],
    ...started(settings, '/gantry/zygote.py', { cold: true, limits: FIXED_LIMITS }),
  ];
}

/** One of our own tools working on a directory of the store before it is final: byte-compiling, pip. */
export function toolArgs(
  settings: SandboxSettings,
  tool: { workDir: string; readOnly: string[]; egress: boolean; tmpBytes: number; config: object },
): string[] {
  return [
    ...isolated(settings),
    ...['--size', String(tool.tmpBytes), '--tmpfs', '/tmp', '--ro-bind', settings.pythonDir, '/gantry'],
    ...['--bind', tool.workDir, '/work'],
    ...tool.readOnly.flatMap((directory) => ['--ro-bind', directory, directory]),
    ...(tool.egress ? ['--ro-bind', settings.egressDir, '/egress'] : []),
    ...['--remount-ro', '/', '--chdir', '/tmp'],
    ...started(settings, '/gantry/tool.py', tool.config),
  ];
}

/** Namespaces, no capabilities, an empty environment, the system read-only. */
function isolated(settings: SandboxSettings): string[] {
  return [
    ...['--unshare-user', '--unshare-ipc', '--unshare-pid', '--unshare-net', '--unshare-uts', '--unshare-cgroup-try'],
    ...[
      '--uid',
      String(INNER_UID),
      '--gid',
      String(INNER_UID),
      '--hostname',
      'sandbox',
      '--cap-drop',
      'ALL',
      '--clearenv',
    ],
    ...['--die-with-parent', '--new-session', '--as-pid-1'],
    ...settings.readOnlyPaths.flatMap((directory) => ['--ro-bind', directory, directory]),
    ...['lib', 'lib64', 'bin', 'sbin'].flatMap((directory) => ['--symlink', `usr/${directory}`, `/${directory}`]),
    ...['--ro-bind', settings.etcDir, '/etc', '--proc', '/proc'],
    // --dev is a writable tmpfs of half the machine's memory. /dev/shm is provided by whoever mounts /tmp.
    ...['--dev', '/dev', '--remount-ro', '/dev'],
    ...Object.entries(ENVIRONMENT).flatMap(([name, value]) => ['--setenv', name, value]),
  ];
}

/** -I and -S: nothing from the environment, the working directory or site-packages; -B: no byte code is written. */
function started(settings: SandboxSettings, script: string, config: object): string[] {
  return [
    ...['--json-status-fd', String(STATUS_FD), '--seccomp', String(SECCOMP_FD), '--'],
    ...[settings.python, '-I', '-S', '-B', script, JSON.stringify(config)],
  ];
}
