/** Finds a Python and bubblewrap for running workers on this machine. */
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import { promisify } from 'node:util';
import { CommandError, EXIT } from '../errors';

const execFileAsync = promisify(execFile);

const VERSION_MIN = [3, 10] as const;
const DESCRIBE_SCRIPT = `
import json, os, sys
print(json.dumps([os.path.realpath(sys.executable), list(sys.version_info[:3]), [sys.base_prefix, sys.base_exec_prefix]]))
`;

export type Interpreter = Awaited<ReturnType<typeof findPython>>;

/** @param requestedPython a path or a name; absent: the first of the usual ones. @throws CommandError with the remedy */
export async function findPython(requestedPython = process.env.GANTRY_PYTHON) {
  const problems: string[] = [];
  for (const candidate of requestedPython ? [requestedPython] : ['python3', '/usr/bin/python3', 'python']) {
    try {
      const { stdout } = await execFileAsync(candidate, ['-I', '-c', DESCRIBE_SCRIPT], { timeout: 20_000 });
      const [executable, version, prefixes] = JSON.parse(stdout) as [string, number[], string[]];
      const [major = 0, minor = 0] = version;
      if (major === VERSION_MIN[0] && minor >= VERSION_MIN[1]) {
        const outside = prefixes.filter((each) => each !== '/usr' && !each.startsWith('/usr/'));
        return {
          /** The executable itself, with shims and links resolved. */
          executable,
          version: version.join('.'),
          /** Folders that it needs besides /usr. */
          prefixes: [...new Set(outside)],
        };
      }
      problems.push(`${executable} is Python ${version.join('.')}, but ${VERSION_MIN.join('.')} or newer is required`);
    } catch (error) {
      problems.push(`${candidate}: ${String((error as Error).message).split('\n')[0]}`);
    }
  }
  throw new CommandError(
    `no suitable Python found: ${problems.join('; ')}`,
    EXIT.failed,
    'Install Python 3.10 or newer, or set GANTRY_PYTHON=/path/to/python3',
  );
}

export interface Mount {
  from: string;
  to: string;
}

export interface SandboxPlan {
  python: Interpreter;
  mounts: Mount[];
  hasNetwork: boolean;
  environment: Record<string, string>;
}

/** Places of name resolution and of certificates, which /etc leads to on some systems. */
const OPTIONAL_MOUNTS = ['/run/systemd/resolve', '/opt'];

/**
 * Arguments of bwrap for a process that sees the system, its mounts and a /tmp of its own, and writes to nothing else.
 * It stays in the process group of bwrap, which is killed as a whole: one that is killed early ends nothing else.
 */
export function toBwrapArgs({ python, mounts, hasNetwork, environment }: SandboxPlan): string[] {
  const links = ['lib', 'lib64', 'bin', 'sbin'].flatMap((name) => {
    const found = fs.lstatSync(`/${name}`, { throwIfNoEntry: false });
    if (!found) return [];
    return found.isSymbolicLink() ? ['--symlink', `usr/${name}`, `/${name}`] : ['--ro-bind', `/${name}`, `/${name}`];
  });
  return [
    ...['--unshare-user', '--unshare-ipc', '--unshare-pid', '--unshare-uts', '--unshare-cgroup-try'],
    ...(hasNetwork ? [] : ['--unshare-net']),
    ...['--cap-drop', 'ALL', '--die-with-parent', '--clearenv', '--hostname', 'sandbox'],
    ...Object.entries(environment).flatMap(([name, value]) => ['--setenv', name, value]),
    ...['--ro-bind', '/usr', '/usr', ...links, '--ro-bind', '/etc', '/etc'],
    ...OPTIONAL_MOUNTS.flatMap((name) => ['--ro-bind-try', name, name]),
    ...['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp'],
    ...python.prefixes.flatMap((prefix) => ['--ro-bind', prefix, prefix]),
    ...mounts.flatMap(({ from, to }) => ['--ro-bind', from, to]),
    ...['--chdir', '/tmp', '--'],
  ];
}

/** @returns why the code cannot be run in a sandbox here; null: it can */
export async function findSandboxProblem(python: Interpreter): Promise<string | null> {
  if (process.platform !== 'linux') return `bubblewrap is available only on Linux, not on ${process.platform}`;
  const args = toBwrapArgs({ python, mounts: [], hasNetwork: true, environment: {} });
  try {
    await execFileAsync('bwrap', [...args, python.executable, '-I', '-S', '-c', 'pass'], { timeout: 20_000 });
    return null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return 'bubblewrap is not installed (apt-get install bubblewrap)';
    }
    const { stderr = '' } = error as { stderr?: string };
    return `bubblewrap cannot create a sandbox here: ${stderr.trim().split('\n').at(-1) || (error as Error).message}`;
  }
}
