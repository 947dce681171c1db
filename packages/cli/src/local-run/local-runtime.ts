/** Prepares local runs for `gantry dev` and `gantry test`: finds the means of this machine, and reports them. */

import path from 'node:path';
import { CommandError } from '../errors';
import { formatEvent } from '../event-format';
import type { Session } from '../session';
import { removeTemporaryDir } from '../temporary-dir';
import { dim, text, yellow } from '../text';
import { installDependencies } from './dependencies';
import type { ExecutionHooks } from './execution';
import { readFileDependencies } from './file-dependencies';
import { writeHarness } from './harness';
import { findPython, findSandboxProblem } from './interpreter';
import type { LocalProgram } from './local-program';
import type { RunEnvironment } from './local-run';

export interface LocalOptions {
  /** False: `--no-sandbox`. */
  sandbox: boolean;
  artifacts?: string;
}

type LocalRuntime = Pick<RunEnvironment, 'python' | 'hasSandbox' | 'harnessDir' | 'loadPackages' | 'artifactsDir'>;

/** Finds what is there, says where code runs, and calls `use` with it. @throws CommandError */
export async function withLocalRuntime<Result>(
  { output }: Session,
  dir: string,
  { sandbox, artifacts = path.join(dir, '.gantry/artifacts') }: LocalOptions,
  use: (means: LocalRuntime) => Promise<Result>,
): Promise<Result> {
  if (process.platform === 'win32') {
    throw new CommandError('workers run locally only on Linux and macOS', undefined, 'On Windows, use WSL');
  }
  const python = await findPython();
  const problem = sandbox ? await findSandboxProblem(python) : '--no-sandbox is set';
  output.note(
    problem === null
      ? dim(`Python ${python.version} in a bubblewrap sandbox`)
      : yellow(
          `Python ${python.version} WITHOUT a sandbox: ${problem}. The code can read and change everything you can`,
        ),
  );
  const harnessDir = writeHarness();
  try {
    return await use({
      python,
      hasSandbox: problem === null,
      harnessDir,
      artifactsDir: path.resolve(artifacts),
      async loadPackages(program) {
        const { dependencies } = program;
        const declared = dependencies.length ? dependencies : await readFileDependencies(python, harnessDir, program);
        return installDependencies(python, declared, () => output.note(dim(`installing ${declared.join(', ')}`)));
      },
    });
  } finally {
    removeTemporaryDir(harnessDir);
  }
}

export function printDifferences({ output }: Session, program: LocalProgram, hasSandbox: boolean): void {
  const differences = [
    ...program.differences,
    ...(!hasSandbox && !program.hasNetwork ? ['network: none is not enforced without a sandbox'] : []),
  ];
  for (const difference of differences) output.note(yellow(difference));
}

/** Shows the events of a run on stderr. */
export const showEvents =
  ({ output }: Session): ExecutionHooks['onEvent'] =>
  (type, data) => {
    const line = type === 'cost' ? dim(text`cost $${String(data.usd)}`) : formatEvent({ id: '', type, data });
    if (line) output.note(line);
  };
