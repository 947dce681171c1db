/** Short work in a process of its own, so that the launcher, which lives as long as the platform, stays small. */
import { spawn } from 'node:child_process';

export interface RunOnceOptions {
  script: string;
  args?: string[];
  env?: NodeJS.ProcessEnv;
  /** Handed over on stdin, where no other user of the machine can read it. */
  input?: unknown;
}

/** Resolves with what the script wrote to stdout. @throws Error with what it wrote to stderr. */
export function runOnce({ script, args = [], env, input }: RunOnceOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [script, ...args], { env: env ?? process.env, stdio: 'pipe' });
    let output = '';
    let problem = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    child.stderr.on('data', (chunk) => {
      problem += chunk;
    });
    child.once('error', reject);
    child.once('close', (code) =>
      code === 0 ? resolve(output) : reject(new Error(problem.trim() || `${script} ended with ${code}`)),
    );
    child.stdin.on('error', () => {});
    child.stdin.end(input === undefined ? '' : JSON.stringify(input));
  });
}

/** The other end: what the launcher handed over. */
export async function readInput<T>(): Promise<T> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString());
}
