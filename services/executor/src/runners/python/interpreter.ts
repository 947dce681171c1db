import { execFileSync } from 'node:child_process';
import fs from 'node:fs';

export interface Interpreter {
  /** The real executable, with shims and links resolved. */
  executable: string;
  version: string;
  /** Directories that it needs besides /usr. */
  prefixes: string[];
  pipPath: string | null;
  /** This pip's default index, and the host that serves its files. */
  publicIndex: { url: string; fileHost: string } | null;
}

const OLDEST = [3, 10] as const;
const PROBE_SCRIPT = `
import json, os, sys
public_index = None
try:
    import pip
    pip_path = os.path.dirname(os.path.dirname(os.path.abspath(pip.__file__)))
except ImportError:
    pip_path = None
try:
    from pip._internal.models.index import PyPI
    public_index = {"url": PyPI.simple_url, "fileHost": PyPI.file_storage_domain}
except (ImportError, AttributeError):
    pass
print(json.dumps([os.path.realpath(sys.executable), "%d.%d.%d" % sys.version_info[:3], [sys.base_prefix, sys.base_exec_prefix], pip_path, public_index]))
`;

/** @param nameOrPath a path or a name; default: the system's own Python. @throws with the remedy. */
export function findInterpreter(nameOrPath?: string): Interpreter {
  const problems: string[] = [];
  for (const candidate of nameOrPath ? [nameOrPath] : ['/usr/bin/python3', 'python3']) {
    try {
      const text = execFileSync(candidate, ['-I', '-c', PROBE_SCRIPT], {
        encoding: 'utf8',
        timeout: 20_000,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const [executable, version, prefixes, pipPath, publicIndex] = JSON.parse(text);
      const [major = 0, minor = 0] = version.split('.').map(Number);
      if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
        problems.push(`${executable} is Python ${version}, but ${OLDEST.join('.')} or newer is required`);
        continue;
      }
      fs.accessSync(executable, fs.constants.X_OK);
      const outside = [...prefixes, pipPath ?? '/usr'].filter(
        (each: string) => !each.startsWith('/usr/') && each !== '/usr',
      );
      return { executable, version, prefixes: [...new Set<string>(outside)], pipPath, publicIndex };
    } catch (err) {
      problems.push(`${candidate}: ${(err as Error).message.split('\n')[0]}`);
    }
  }
  throw new Error(
    `no usable Python was found (${problems.join('; ')}). Install python3 (apt-get install python3 python3-pip), or set PYTHON to the path of an interpreter.`,
  );
}
