/** Completes definitions by the packages that a file of the worker declares. */
import type { Bus } from '@gantry/events';
import { getFileDependencies } from '@gantry/program';
import type { FileTree } from '../file-trees/file-tree';
import { type Definition, toDeclaredResources } from './definition';

/** Returns whether the definition lists its packages itself: no file is read then. */
export const declaresPackages = (definition: Definition): boolean =>
  toDeclaredResources(definition).python_dependencies.length > 0;

/**
 * The definition with its packages as `python_dependencies`, whichever place declares them: approvals, jobs and
 * announcements read that field alone.
 * @throws AppError 400 `bad_dependencies` naming file and line; 503 without an executor to read TOML
 */
export async function addFileDependencies(bus: Bus, definition: Definition, tree: FileTree): Promise<Definition> {
  if (declaresPackages(definition)) return definition;
  const found = await getFileDependencies(bus, definition.entrypoint, tree);
  return { ...definition, python_dependencies: found?.packages ?? [], dependencies_source: found?.source ?? null };
}
