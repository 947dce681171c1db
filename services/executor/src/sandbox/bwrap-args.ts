/** Builds the bubblewrap arguments of each kind of sandbox. */
import { INNER_UID, type SandboxSettings } from './settings';

/**
 * Descriptors that every sandbox starts with: 0-2, the control channel, bwrap's status, the seccomp program, others.
 */
export const CONTROL_FD = 3;
export const STATUS_FD = 4;
const SECCOMP_FD = 5;
export const INHERITED_FD = 6;

/** Many clients bundle their own certificate authorities: they must trust the machine's, and the egress proxy's. */
const ENVIRONMENT = {
  PATH: '/usr/bin',
  HOME: '/tmp',
  LANG: 'C.UTF-8',
  TMPDIR: '/tmp',
  ...Object.fromEntries(
    [
      ...['SSL_CERT_FILE', 'REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE', 'AWS_CA_BUNDLE', 'PIP_CERT'],
      ...['HTTPLIB2_CA_CERTS', 'NODE_EXTRA_CA_CERTS'],
    ].map((name) => [name, '/etc/ssl/certs/ca-certificates.crt']),
  ),
};

/** The root of a run. Everything else is under /host, which a run never sees. */
const RUN_ROOT = '/sandbox';
const HOST = '/host';

/**
 * Builds the arguments for zygote.py: the root of runs, and next to it everything needed until a run is known.
 * @param options.etc files of /etc, inherited from descriptor `firstFile` on. If they were bind-mounted,
 *   /proc/self/mountinfo would reveal their location on this machine.
 * @param options.ctlDir contains the socket that children connect to; a cold child has its channel already
 */
export function buildRunArgs(
  settings: SandboxSettings,
  { ctlDir, etc, config }: { ctlDir?: string; etc: { names: string[]; firstFile: number }; config: object },
): string[] {
  const topDirectories = [
    ...settings.readOnlyPaths.map((directory) => directory.split('/')[1] ?? ''),
    'etc',
    'proc',
    'dev',
  ];
  return [
    ...buildNamespaceArgs(),
    ...['--tmpfs', RUN_ROOT, ...buildSystemArgs(settings, RUN_ROOT)],
    ...['code', 'deps', 'tmp'].flatMap((name) => ['--dir', `${RUN_ROOT}/${name}`]),
    ...etc.names.flatMap((name, i) => ['--file', String(etc.firstFile + i), `${RUN_ROOT}/etc/${name}`]),
    ...['--remount-ro', RUN_ROOT],
    // The interpreter starts before it changes its root, and must find the same paths.
    ...[...new Set(topDirectories)].flatMap((name) => ['--symlink', `${RUN_ROOT.slice(1)}/${name}`, `/${name}`]),
    ...buildLinkArgs(''),
    ...['--dir', `${HOST}/empty`, '--ro-bind', settings.storeDir, `${HOST}/store`],
    ...['--ro-bind', settings.pythonDir, `${HOST}/python`, '--ro-bind', settings.egressDir, `${HOST}/egress`],
    ...['--ro-bind', settings.childFilterFile, `${HOST}/child.bpf`],
    ...['--ro-bind', settings.warmFilterFile, `${HOST}/warm.bpf`],
    ...(ctlDir ? ['--ro-bind', ctlDir, `${HOST}/ctl`] : []),
    ...['--remount-ro', '/', '--chdir', '/'],
    ...buildProgramArgs(settings, `${HOST}/python/zygote.py`, config),
  ];
}

/**
 * Builds the arguments for a tool of the platform that works on a store directory before it is final: byte code,
 * packages.
 */
export function buildToolArgs(
  settings: SandboxSettings,
  tool: { workDir: string; readOnly: string[]; egress: boolean; tmpBytes: number; config: object },
): string[] {
  return [
    ...buildNamespaceArgs(),
    ...buildSystemArgs(settings, ''),
    ...['--ro-bind', settings.etcDir, '/etc'],
    ...['--size', String(tool.tmpBytes), '--tmpfs', '/tmp', '--ro-bind', settings.pythonDir, '/gantry'],
    ...['--bind', tool.workDir, '/work'],
    ...tool.readOnly.flatMap((directory) => ['--ro-bind', directory, directory]),
    ...(tool.egress ? ['--ro-bind', settings.egressDir, '/egress'] : []),
    ...['--remount-ro', '/', '--chdir', '/tmp'],
    ...buildProgramArgs(settings, '/gantry/tool.py', tool.config),
  ];
}

/** Builds namespaces, no capabilities, an empty environment. */
function buildNamespaceArgs(): string[] {
  const id = String(INNER_UID);
  return [
    ...['--unshare-user', '--unshare-ipc', '--unshare-pid', '--unshare-net', '--unshare-uts', '--unshare-cgroup-try'],
    ...['--uid', id, '--gid', id, '--hostname', 'sandbox', '--cap-drop', 'ALL', '--clearenv'],
    ...['--die-with-parent', '--new-session', '--as-pid-1'],
    ...Object.entries(ENVIRONMENT).flatMap(([name, value]) => ['--setenv', name, value]),
  ];
}

/** Mounts the system's programs read-only, /proc and /dev. */
function buildSystemArgs(settings: SandboxSettings, root: string): string[] {
  return [
    ...settings.readOnlyPaths.flatMap((directory) => ['--ro-bind', directory, root + directory]),
    ...buildLinkArgs(root),
    ...['--proc', `${root}/proc`],
    // --dev is a writable tmpfs of half the machine's memory. The code that mounts /tmp also provides /dev/shm.
    ...['--dev', `${root}/dev`, '--remount-ro', `${root}/dev`],
  ];
}

const buildLinkArgs = (root: string) =>
  ['lib', 'lib64', 'bin', 'sbin'].flatMap((directory) => ['--symlink', `usr/${directory}`, `${root}/${directory}`]);

/** -I and -S: ignore the environment, the working directory and site-packages; -B: write no byte code. */
function buildProgramArgs(settings: SandboxSettings, script: string, config: object): string[] {
  return [
    ...['--json-status-fd', String(STATUS_FD), '--seccomp', String(SECCOMP_FD), '--'],
    ...[settings.python, '-I', '-S', '-B', script, JSON.stringify(config)],
  ];
}
