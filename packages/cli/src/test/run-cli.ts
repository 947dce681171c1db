/** Runs the built command line as a person does: as a process, with a home of its own. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import path from 'node:path';
import { createTemporaryDir, type Stack, setupResource, startStack } from '@gantry/testing';

const FILE = path.resolve(__dirname, '../../dist/gantry.mjs');

export interface CommandResult {
  code: number;
  stdout: string;
  stderr: string;
}

export interface CliOptions {
  stdin?: string;
  env?: Record<string, string>;
  cwd?: string;
  /** The shell redirects stdout to it. */
  outputFile?: string;
}

export interface Cli {
  home: string;
  configFile(name: string): string;
  run(args: string[], options?: CliOptions): Promise<CommandResult>;
  /** Returns the output of a command with `--json`. @throws Error where it fails */
  // biome-ignore lint/suspicious/noExplicitAny: tests read the fields that they know
  json(args: string[], options?: CliOptions): Promise<any>;
  start(args: string[], options?: CliOptions): ChildProcessWithoutNullStreams & { finished: Promise<CommandResult> };
}

/** A person at a machine that knows no server. */
export function createCli(env: Record<string, string> = {}): Cli {
  const home = createTemporaryDir('home');

  const cli: Cli = {
    home,
    configFile: (name) => path.join(home, '.config/gantry', name),
    start(args, options = {}) {
      const stdout = options.outputFile === undefined ? null : openSync(options.outputFile, 'w');
      const child = spawn(process.execPath, [FILE, ...args], {
        cwd: options.cwd ?? home,
        env: { PATH: process.env.PATH ?? '', HOME: home, ...env, ...options.env },
        stdio: ['pipe', stdout ?? 'pipe', 'pipe'],
      }) as ChildProcessWithoutNullStreams;
      if (stdout !== null) closeSync(stdout);
      const written = { stdout: '', stderr: '' };
      child.stdout?.on('data', (chunk) => (written.stdout += chunk));
      child.stderr.on('data', (chunk) => (written.stderr += chunk));
      // A program that does not read its input may have ended.
      child.stdin.on('error', () => {});
      child.stdin.end(options.stdin ?? '');
      const finished = new Promise<CommandResult>((resolve) =>
        child.once('close', (code) => resolve({ code: code ?? -1, ...written })),
      );
      return Object.assign(child, { finished });
    },
    run: (args, options) => cli.start(args, options).finished,
    async json(args, options) {
      const { code, stdout, stderr } = await cli.run([...args, '--json'], options);
      if (code !== 0) throw new Error(`gantry ${args.join(' ')}: ${code} ${stderr}`);
      return JSON.parse(stdout);
    },
  };
  return cli;
}

/** Starts the platform, and a command line with the token of its owner, before the tests of this file. */
export function setupPlatformCli(): { stack: Stack; cli: Cli } {
  const stack = setupResource(
    () => startStack({}),
    (started) => started.stop(),
  );
  const cli = setupResource(() => createCli({ GANTRY_URL: stack.workerUrls[0] ?? '', GANTRY_TOKEN: stack.token }));
  return { stack, cli };
}
