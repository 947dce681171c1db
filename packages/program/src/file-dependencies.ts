/** Reads the packages that a program's own files declare. TOML is parsed in a sandbox of an executor. */
import { type FieldProblem, invalid } from '@gantry/errors';
import type { Bus } from '@gantry/events';
import {
  type DependencyProblem,
  type DependencyResult,
  type FileDependencies,
  findFileDependencies,
  type ProgramFile,
} from '@gantry/python-dependencies';
import { inspectToml } from './inspect-entrypoint';

export type { FileDependencies };

/** @returns null if no file declares packages. @throws AppError 400 naming file and line; 503 without an executor */
export async function getFileDependencies(
  bus: Bus,
  entrypoint: string,
  files: readonly ProgramFile[],
): Promise<FileDependencies | null> {
  const reading = await readFileDependencies(bus, entrypoint, files);
  if ('problems' in reading) throw invalid(reading.problems.map(toFieldProblem), 'bad_dependencies');
  return reading.found;
}

const toFieldProblem = ({ path, line, message }: DependencyProblem): FieldProblem => ({
  path: 'files',
  message: `"${path.slice(0, 200)}"${line === null ? '' : `, line ${line}`}: ${message}`,
});

/** @throws AppError 503 without an executor */
export const readFileDependencies = (
  bus: Bus,
  entrypoint: string,
  files: readonly ProgramFile[],
): Promise<DependencyResult> => findFileDependencies(entrypoint, files, (toml) => inspectToml(bus, toml));
