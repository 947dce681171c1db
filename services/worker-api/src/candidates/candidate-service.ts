/**
 * Making a candidate of a change: checked, packed and looked into as saving it would be, and rehearsed instead of
 * saved.
 */

import { conflict, type FieldProblem, invalid } from '@gantry/errors';
import { addChangeHint, newId } from '@gantry/events';
import type { Requester } from '@gantry/http';
import { requiresCodeApproval } from '@gantry/limits';
import { type Sql, transaction } from '@gantry/postgres';
import { findRun, type Run } from '@gantry/run-engine';
import { findOwnerId } from '../access/ownership';
import { recordChange } from '../audit/audit-entry';
import { requireUsableContexts } from '../contexts/run-contexts';
import type { FileChange } from '../file-trees/file-tree';
import type { DefinitionInput } from '../workers/definition';
import { buildNextVersion, requireNotArchived } from '../workers/edit-worker';
import { requireAllowedExposure } from '../workers/exposure';
import { isApprovalStillNeeded } from '../workers/version-approval';
import { getRequestedVersion, type Version } from '../workers/version-repository';
import type { WorkerWithTriggers } from '../workers/worker-repository';
import type { Candidate } from './candidate';
import type { CandidateDeps } from './candidate-deps';
import { countOpenCandidates, insertCandidate, lockWorkerTrials, type NewCandidate } from './candidate-repository';
import { advanceCandidate } from './rehearse-cases';

/** Undecided candidates of a worker. */
const OPEN_MAX = 20;

interface VersionChange {
  definition: DefinitionInput;
  files: FileChange[];
}

type CandidateOrigin = Pick<NewCandidate, 'needsApproval' | 'message' | 'repairId' | 'createdBy' | 'createdByLabel'>;

export interface NewCandidateInput extends VersionChange {
  baseSha: string | undefined;
  message: string | null;
  /** Number of the last completed runs that it is rehearsed against. */
  lastSuccessful: number;
  /** Further runs that it is rehearsed against. */
  runIds: string[];
}

/**
 * The candidate, with its rehearsals begun.
 * @throws AppError 400 as saving would, or naming runs that it can't be rehearsed against; 403; 404 for the base; 409
 */
export async function createCandidate(
  deps: CandidateDeps,
  { caller, actor, markCreated }: Requester,
  worker: WorkerWithTriggers,
  input: NewCandidateInput,
): Promise<string> {
  const { definition, files, baseSha, message } = input;
  requireNotArchived(worker);
  const runs = await loadNamedRuns(deps, worker, input.runIds);
  const base = await getRequestedVersion(deps.prisma, worker, baseSha);
  const candidate = await buildCandidate(deps, worker, base, {
    change: { definition, files },
    origin: {
      needsApproval: requiresCodeApproval(caller),
      message,
      repairId: null,
      createdBy: findOwnerId(caller),
      createdByLabel: actor.label,
    },
  });
  await requireUsableContexts(deps.prisma, caller, candidate.definition.contexts, base.definition.contexts);
  await requireAllowedExposure(deps.prisma, worker, findOwnerId(caller), candidate.definition);
  const others = await listLastSuccessfulRuns(deps, worker, input.lastSuccessful, runs);
  await transaction(deps.pool, async (tx) => {
    await insertCandidateWithinLimit(tx, candidate, [...runs, ...others]);
    const details = { candidate_id: candidate.id, from: base.sha, to: candidate.sha };
    await recordChange(tx, actor, 'worker.candidate_made', worker, details);
    await markCreated(tx, candidate.id);
  });
  await advanceCandidate(deps, candidate.id);
  return candidate.id;
}

/**
 * Builds the candidate that a change of a version results in.
 * @throws AppError 400 as saving it would; 409 `same_version`; 503 with no executor to look into the code
 */
export async function buildCandidate(
  deps: CandidateDeps,
  worker: WorkerWithTriggers,
  base: Version,
  { change, origin }: { change: VersionChange; origin: CandidateOrigin },
): Promise<NewCandidate> {
  const { definition, files, code, sha, warnings } = await buildNextVersion(deps, worker, base, { change });
  if (sha === base.sha) {
    throw conflict('same_version', 'the version is identical to its base; change the files or the definition');
  }
  const isApprovalNeeded = origin.needsApproval || (await isApprovalStillNeeded(deps.prisma, worker.uid, base));
  return {
    ...origin,
    id: newId('cnd_'),
    workspaceId: worker.workspaceId,
    workerUid: worker.uid,
    status: 'rehearsing',
    baseSha: base.sha,
    baseNumber: base.number,
    sha,
    definition,
    files,
    code,
    warnings,
    needsApproval: isApprovalNeeded,
  };
}

/** Without a run to rehearse it is ready at once. @throws AppError 409 `too_many_candidates` */
export async function insertCandidateWithinLimit(tx: Sql, candidate: NewCandidate, runs: Run[]): Promise<void> {
  const { workerUid, workspaceId } = candidate;
  await lockWorkerTrials(tx, workerUid);
  if ((await countOpenCandidates(tx, workerUid)) >= OPEN_MAX) {
    throw conflict('too_many_candidates', `this worker already has ${OPEN_MAX} undecided candidates; drop some first`);
  }
  const status: Candidate['status'] = runs.length ? 'rehearsing' : 'ready';
  await insertCandidate(
    tx,
    { ...candidate, status },
    runs.map(({ id }) => id),
  );
  addChangeHint(tx, workspaceId, 'workers');
}

const REHEARSABLE: ReadonlySet<Run['status']> = new Set<Run['status']>(['completed', 'failed', 'timed_out']);

/** @throws AppError 400 naming each that is no ended run of the worker */
async function loadNamedRuns(deps: CandidateDeps, worker: WorkerWithTriggers, ids: string[]): Promise<Run[]> {
  const problems: FieldProblem[] = [];
  const runs: Run[] = [];
  for (const [index, id] of [...new Set(ids)].entries()) {
    const run = await findRun(deps.pool, worker.workspaceId, id);
    if (run?.subjectId !== worker.uid || run.kind !== 'run') {
      problems.push({ path: `run_ids.${index}`, message: `this worker has no run "${id}"` });
    } else if (!REHEARSABLE.has(run.status)) {
      problems.push({
        path: `run_ids.${index}`,
        message: `must have completed or failed, but its status is ${run.status}`,
      });
    } else {
      runs.push(run);
    }
  }
  if (problems.length) throw invalid(problems, 'bad_run');
  return runs;
}

/** Newest first; without those in `but`. */
export async function listLastSuccessfulRuns(
  { engine }: Pick<CandidateDeps, 'engine'>,
  { workspaceId, uid }: Pick<WorkerWithTriggers, 'workspaceId' | 'uid'>,
  count: number,
  excludedRuns: Run[],
): Promise<Run[]> {
  if (count === 0) return [];
  const limit = count + excludedRuns.length;
  const found = await engine.list(workspaceId, { subjectId: uid, kind: 'run', status: ['completed'], limit });
  // Bounded: 20 runs that a request names and 20 others (`run_ids` and `last_successful` of the OpenAPI document).
  return found.filter(({ id }) => !excludedRuns.some((one) => one.id === id)).slice(0, count);
}
