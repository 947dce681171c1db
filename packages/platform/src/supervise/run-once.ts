/** Short work in a process of its own, so that the launcher, which lives as long as the platform, stays small. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { json, text } from 'node:stream/consumers';

export interface RunOnceOptions {
  script: string;
  args?: string[];
  env?: NodeJS.ProcessEnv;
  /** Handed over on stdin, where no other user of the machine can read it. */
  input?: unknown;
}

/** Resolves with what the script wrote to stdout. @throws Error with what it wrote to stderr. */
export async function runOnce({ script, args = [], env, input }: RunOnceOptions): Promise<string> {
  const child = spawn(process.execPath, [script, ...args], { env: env ?? process.env, stdio: 'pipe' });
  child.stdin.on('error', () => {});
  child.stdin.end(input === undefined ? '' : JSON.stringify(input));
  const closed = once(child, 'close');
  const [output, problem, [code]] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  if (code !== 0) throw new Error(problem.trim() || `${script} ended with ${code}`);
  return output;
}

/** The other end: what the launcher handed over. */
export const readInput = async <T>(): Promise<T> => (await json(process.stdin)) as T;
