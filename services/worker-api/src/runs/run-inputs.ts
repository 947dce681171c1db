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
  request: RequestedInputs,
  { definition, inputs: validator }: Pick<Runnable, 'definition' | 'inputs'>,
): Record<string, unknown> {
  if (!definition.inputs.length) return request.inputs;
  const requestedInputs = { ...request.inputs };
  for (const { input, name } of listReusedFiles(request, definition)) requestedInputs[input] = { name };
  const areChanged = request.replayOf !== undefined && request.inputs !== request.replayOf.inputs;
  if (areChanged || request.isStrict) return validator.check(requestedInputs);
  const names = new Set(definition.inputs.map(({ name }) => name));
  const known = Object.fromEntries(Object.entries(requestedInputs).filter(([name]) => names.has(name)));
  return { ...requestedInputs, ...validator.check(known) };
}

/** Files that are placed for a run that is then refused lie there for nothing: to be called last. */
export async function storeInputs(
  { objects }: Pick<RunDeps, 'objects'>,
  workspaceId: string,
  request: RequestedInputs,
  definition: Definition,
  checked: Record<string, unknown>,
): Promise<{ inputs: Record<string, unknown>; files: RunSpec['files'] }> {
  const kept = listReusedFiles(request, definition);
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
const listReusedFiles = (
  { replayOf, inputs: requestedInputs }: RequestedInputs,
  { inputs }: Definition,
): RunSpec['files'] =>
  // Bounded: 100 inputs (ITEMS_MAX of packages/program), and a file for each.
  (replayOf?.spec.files ?? []).filter(
    ({ input }) =>
      isDeepStrictEqual(requestedInputs[input], replayOf?.inputs[input]) &&
      inputs.some(({ name, type }) => name === input && type === 'file'),
  );
