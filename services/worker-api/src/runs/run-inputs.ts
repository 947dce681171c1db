/** Inputs of a run that is about to be made: checked as its version declares them, and files among them placed. */
import { isDeepStrictEqual } from 'node:util';
import { storeInputFiles } from '@gantry/program';
import type { Run, RunSpec } from '@gantry/run-engine';
import type { Definition } from '../workers/definition';
import type { RunDeps } from './run-deps';
import type { Runnable } from './runnable';

export interface RequestedInputs {
  inputs: Record<string, unknown>;
  /** Inputs that the worker does not declare are refused. */
  isStrict: boolean;
  /** The run that is repeated: files that the inputs leave as it shows them are used again. */
  replayOf?: Run | undefined;
}

/**
 * A worker that declares no inputs takes any object. Those of a run that is repeated were checked as it was made.
 * @throws AppError 400 naming every input that is wrong
 */
export function checkInputs(
  asked: RequestedInputs,
  { definition, inputs: validator }: Pick<Runnable, 'definition' | 'inputs'>,
): Record<string, unknown> {
  if (!definition.inputs.length) return asked.inputs;
  const given = { ...asked.inputs };
  for (const { input, name } of listReusedFiles(asked, definition)) given[input] = { name };
  const areChanged = asked.replayOf !== undefined && asked.inputs !== asked.replayOf.inputs;
  if (areChanged || asked.isStrict) return validator.check(given);
  const names = new Set(definition.inputs.map(({ name }) => name));
  const known = Object.fromEntries(Object.entries(given).filter(([name]) => names.has(name)));
  return { ...given, ...validator.check(known) };
}

/** Files that are placed for a run that is then refused lie there for nothing: to be called last. */
export async function placeInputs(
  { objects }: Pick<RunDeps, 'objects'>,
  workspaceId: string,
  asked: RequestedInputs,
  definition: Definition,
  checked: Record<string, unknown>,
): Promise<{ inputs: Record<string, unknown>; files: RunSpec['files'] }> {
  const kept = listReusedFiles(asked, definition);
  // Bounded: 100 inputs (ITEMS_MAX of packages/program), and a file for each.
  const fresh = definition.inputs.filter(({ name }) => !kept.some(({ input }) => input === name));
  const { inputs, files } = await storeInputFiles({ objects, getUpload: null }, workspaceId, fresh, checked);
  const shown = Object.fromEntries(kept.map(({ input, name, size }) => [input, { name, size }]));
  return { inputs: { ...inputs, ...shown }, files: [...files, ...kept] };
}

/**
 * Files of the run that is repeated, where the version still asks for a file of that name and the inputs give no
 * other.
 */
const listReusedFiles = ({ replayOf, inputs: given }: RequestedInputs, { inputs }: Definition): RunSpec['files'] =>
  // Bounded: 100 inputs (ITEMS_MAX of packages/program), and a file for each.
  (replayOf?.spec.files ?? []).filter(
    ({ input }) =>
      isDeepStrictEqual(given[input], replayOf?.inputs[input]) &&
      inputs.some(({ name, type }) => name === input && type === 'file'),
  );
