/** Examples as they are stored and shown. */
import type { FieldProblem } from '@gantry/errors';
import { isDeeperThan, toApiFields } from '@gantry/http';
import type { WorkerExample } from '../generated/prisma/client';
import type { Check } from './check';

const INPUTS_CHARS_MAX = 256 * 1024;
const DEPTH_MAX = 64;

export interface Example extends Omit<WorkerExample, 'workspaceId' | 'inputs' | 'checks'> {
  inputs: Record<string, unknown>;
  checks: Check[];
}

/**
 * The fields of an example that an evaluation copies. `ofRunId` is the run of this worker whose records answer its
 * rehearsals; null: none does.
 */
export type ExampleContent = Pick<
  Example,
  'name' | 'inputs' | 'checks' | 'maxDurationSeconds' | 'maxCostUsd' | 'ofRunId'
>;

export const exampleToApi = (example: Example) => ({
  ...toApiFields(example, 'id', 'name', 'description', 'inputs', 'checks', 'maxDurationSeconds', 'maxCostUsd'),
  ...toApiFields(example, 'enabled', 'ofRunId', 'createdBy', 'createdAt', 'updatedAt'),
});

/** Null: it may be kept. */
export function findInputsProblem(inputs: Record<string, unknown>): FieldProblem | null {
  if (isDeeperThan(inputs, DEPTH_MAX))
    return { path: 'inputs', message: `is nested more than ${DEPTH_MAX} levels deep` };
  if (JSON.stringify(inputs).length <= INPUTS_CHARS_MAX) return null;
  return { path: 'inputs', message: `is larger than ${INPUTS_CHARS_MAX / 1024} KB` };
}
