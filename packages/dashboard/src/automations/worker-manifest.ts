/** The automation that a worker is published as. */
import type { Worker } from '../shell/api';

/** The longest description of an automation, in UTF-16 units. */
export const DESCRIPTION_CHARS_MAX = 2_000;

/** Builds the manifest of an automation with the code of this worker. Secrets are only named, which copies no value. */
export function buildWorkerManifest(worker: Worker): Record<string, unknown> {
  const { name, description, inputs, outputs, secrets, python_dependencies, limits, isolation } = worker;
  return {
    name,
    // Without half of a character, which the database would refuse.
    description: description.slice(0, DESCRIPTION_CHARS_MAX).replace(/[\uD800-\uDBFF]$/, ''),
    inputs,
    outputs,
    secrets_needed: secrets,
    python_dependencies,
    timeout_seconds: limits.timeout_seconds,
    isolation,
  };
}

/** Explains why a worker can't be published as a page; null if it can. */
export function findPublishProblem({ runner, version_approval: approval }: Worker): string | null {
  if (runner === 'agent') return 'This worker is an agent. Automations can only run Python code.';
  return approval?.status === 'waiting'
    ? 'The worker’s current version was written by an agent and must be approved first.'
    : null;
}
