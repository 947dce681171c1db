/**
 * Rehearses candidates case by case. A case is `waiting`, then its rehearsal is under way (`rehearsing`), then perhaps
 * that of the version that the candidate was made from (`pairing`), then it is `settled`. Each step is a
 * compare-and-set in one transaction with the rehearsal that it begins, so that any replica may take it, once; the loop
 * resumes steps that a crashed replica left undone (repair-loop.ts).
 */

import { AppError } from '@gantry/errors';
import { addChangeHint } from '@gantry/events';
import { transaction } from '@gantry/postgres';
import { findRun, type Run } from '@gantry/run-engine';
import type { PoolClient } from 'pg';
import { type Judgement, type OutcomeComparison, toApiOutcome } from '../rehearsals/compare-run-outcomes';
import { loadRunOutcome } from '../rehearsals/load-run-outcome';
import { startRehearsal } from '../rehearsals/rehearse';
import { buildInconclusiveOutcome, type StoredRunOutcome } from '../rehearsals/run-outcome';
import { isAwaitingApproval } from '../runs/admit-code';
import { type Runnable, toRunnable } from '../runs/runnable';
import { findWorkerByUid, type WorkerWithTriggers } from '../workers/worker-repository';
import type { Candidate, Case } from './candidate';
import type { CandidateDeps } from './candidate-deps';
import {
  countActiveCases,
  findCandidate,
  isCaseUnchanged,
  listCases,
  lockCandidate,
  lockWorkerTrials,
  transitionCandidate,
  transitionCase,
} from './candidate-repository';
import { loadCandidateScope } from './candidate-scope';

/** Concurrent rehearsals of one worker: the executors are for runs that people wait for. */
export const CONCURRENT_REHEARSALS_MAX = 3;

/**
 * Begins as many rehearsals as the limit allows; after the last case the candidate is ready. A candidate that a person
 * has to approve waits.
 */
export async function advanceCandidate(deps: CandidateDeps, candidateId: string): Promise<void> {
  const { pool, prisma } = deps;
  const candidate = await findCandidate(pool, candidateId);
  if (candidate?.status !== 'rehearsing') return;
  const worker = await findWorkerByUid(prisma, candidate.workspaceId, candidate.workerUid);
  const draft = worker && (await loadDraft(deps, candidate));
  if (draft && (await isHeldForApproval(deps, candidate, draft))) return;
  await transaction(pool, async (tx) => {
    await lockWorkerTrials(tx, candidate.workerUid);
    if ((await lockCandidate(tx, candidateId))?.status !== 'rehearsing') return;
    if (!worker || !draft) {
      await transitionCandidate(tx, candidateId, ['rehearsing'], { status: 'failed', error: 'the worker was deleted' });
      return;
    }
    let room = CONCURRENT_REHEARSALS_MAX - (await countActiveCases(tx, candidate.workerUid));
    const waiting = (await listCases(tx, candidateId)).filter(({ status }) => status === 'waiting');
    for (const rehearsalCase of waiting) {
      if (room <= 0) break;
      if (await startCase(deps, tx, { candidate, worker, draft, rehearsalCase })) room--;
    }
    await finishCandidateIfSettled(tx, candidate);
  });
}

/** Excludes repairs, which would wait forever: their rehearsals are refused, and they conclude without them. */
const isHeldForApproval = async ({ pool }: CandidateDeps, candidate: Candidate, draft: Runnable): Promise<boolean> =>
  candidate.repairId === null && isAwaitingApproval(pool, candidate.workerUid, draft);

const loadDraft = async ({ prisma }: CandidateDeps, candidate: Candidate): Promise<Runnable> =>
  toRunnable(candidate.definition, candidate.code, {
    ...candidate,
    lockedCode: { id: candidate.workerUid, version: candidate.sha },
    onlyWorkers: await loadCandidateScope(prisma, candidate),
  });

const RUN_GONE = "the recorded run was deleted because the workspace's run retention period had ended";

/** True for code that a model wrote, perhaps after it had read untrusted text. */
const isUnreviewedCandidate = ({ repairId }: Candidate): boolean => repairId !== null;

/** The base version is rehearsed under the rules of the candidate, or the rules would be the difference. */
const buildRehearsalRequest = (candidate: Candidate, worker: WorkerWithTriggers, recordedRun: Run) => ({
  worker,
  inputs: recordedRun.inputs,
  of: recordedRun,
  createdBy: candidate.createdBy,
  isUnread: isUnreviewedCandidate(candidate),
});

interface CaseStart {
  candidate: Candidate;
  worker: WorkerWithTriggers;
  draft: Runnable;
  rehearsalCase: Case;
}

/** @returns whether a rehearsal is under way: a case for which none can be made is settled at once */
async function startCase(
  deps: CandidateDeps,
  tx: PoolClient,
  { candidate, worker, draft, rehearsalCase }: CaseStart,
): Promise<boolean> {
  const recordedRun = await findRun(tx, candidate.workspaceId, rehearsalCase.runId);
  if (!recordedRun) {
    await transitionCase(tx, rehearsalCase, { status: 'settled', outcome: 'inconclusive', reason: RUN_GONE });
    return false;
  }
  const started = await startRehearsal(deps, tx, { ...buildRehearsalRequest(candidate, worker, recordedRun), draft });
  if (started instanceof AppError) {
    await transitionCase(tx, rehearsalCase, { status: 'settled', ...judgeRefusal(started, recordedRun) });
    return false;
  }
  return transitionCase(tx, rehearsalCase, { status: 'rehearsing', rehearsalRunId: started.id });
}

/**
 * Judges a refused rehearsal: rejecting inputs that the base version accepted is worse; other refusals are no evidence.
 */
function judgeRefusal({ kind, detail }: AppError, recordedRun: Run): Pick<Judgement, 'outcome' | 'reason'> {
  if (kind !== 'invalid') return { outcome: 'inconclusive', reason: `the run could not be rehearsed: ${detail}` };
  return {
    outcome: recordedRun.status === 'completed' ? 'broken' : 'still_failing',
    reason: `the candidate rejects the inputs: ${detail}`,
  };
}

/**
 * Finishes the candidate after its last case, in a transaction that has locked it. A repair of approved code goes to a
 * person even if no rehearsal could be made, for example since it needs another package.
 */
async function finishCandidateIfSettled(
  tx: PoolClient,
  { id, workspaceId, repairId, needsApproval }: Candidate,
): Promise<void> {
  const cases = await listCases(tx, id);
  if (cases.some(({ status }) => status !== 'settled')) return;
  const wasRehearsed = cases.length === 0 || cases.some(({ rehearsalRunId }) => rehearsalRunId !== null);
  const canBeDecided = wasRehearsed || (repairId !== null && !needsApproval);
  await transitionCandidate(
    tx,
    id,
    ['rehearsing'],
    canBeDecided ? { status: 'ready' } : { status: 'failed', error: cases[0]?.reason ?? 'no run could be rehearsed' },
  );
  addChangeHint(tx, workspaceId, 'workers');
}

/** Settles a case whose rehearsal has ended, or pairs it with its base. Does nothing if it has moved meanwhile. */
export async function settleEndedCase(deps: CandidateDeps, rehearsalCase: Case): Promise<void> {
  const candidate = await findCandidate(deps.pool, rehearsalCase.candidateId);
  if (!candidate) return;
  const outcomes = await loadOutcomes(deps, candidate, rehearsalCase);
  const { judgement, ...shownOutcomes } = await compareOutcomes(deps, candidate, outcomes);
  if (judgement) {
    await transaction(deps.pool, async (tx) => {
      if (!(await lockCandidate(tx, candidate.id))) return;
      await settleCase(tx, rehearsalCase, outcomes, { judgement, ...shownOutcomes });
      await finishCandidateIfSettled(tx, candidate);
    });
  } else {
    await rehearseBase(deps, candidate, rehearsalCase, outcomes);
  }
  await advanceCandidate(deps, candidate.id);
}

interface CaseOutcomes {
  recordedRun: Run | null;
  recorded: StoredRunOutcome | null;
  rehearsed: StoredRunOutcome;
  /** Null: it was not rehearsed. */
  base: StoredRunOutcome | null;
}

async function loadOutcomes(
  deps: CandidateDeps,
  { workspaceId }: Candidate,
  { status, runId, rehearsalRunId, baseRunId }: Case,
): Promise<CaseOutcomes> {
  const findRunOrNull = (id: string | null) => (id === null ? null : findRun(deps.pool, workspaceId, id));
  const [recordedRun, rehearsal, base] = await Promise.all([
    findRunOrNull(runId),
    findRunOrNull(rehearsalRunId),
    findRunOrNull(baseRunId),
  ]);
  const gone = buildInconclusiveOutcome(
    "the rehearsal was deleted because the workspace's run retention period had ended",
  );
  return {
    recordedRun,
    recorded: recordedRun && (await loadRunOutcome(deps, recordedRun)),
    rehearsed: rehearsal ? await loadRunOutcome(deps, rehearsal) : gone,
    base: status === 'rehearsing' ? null : base ? await loadRunOutcome(deps, base) : gone,
  };
}

/** @throws Error if the threads are busy */
async function compareOutcomes(
  { outcomeJudge }: CandidateDeps,
  { id: candidateId, status }: Candidate,
  { recorded, rehearsed, base }: CaseOutcomes,
): Promise<OutcomeComparison> {
  const was = recorded ?? buildInconclusiveOutcome(RUN_GONE);
  const isDecided = status !== 'rehearsing';
  const comparison = await outcomeJudge.compare(
    {
      recorded: was,
      rehearsed,
      base: base ?? (isDecided ? buildInconclusiveOutcome('a decision on the candidate has already been made') : null),
    },
    { candidateId },
  );
  if (comparison) return recorded ? comparison : { ...comparison, judgement: toInconclusiveJudgement(RUN_GONE) };
  return {
    judgement: toInconclusiveJudgement('comparing the outputs would take more time or memory than allowed'),
    recorded: toApiOutcome({ ...was, output: undefined }),
    rehearsed: toApiOutcome({ ...rehearsed, output: undefined }),
  };
}

const toInconclusiveJudgement = (reason: string): Judgement => ({ outcome: 'inconclusive', reason, differences: [] });

const settleCase = (
  tx: PoolClient,
  rehearsalCase: Case,
  { recorded, rehearsed }: CaseOutcomes,
  comparison: OutcomeComparison & { judgement: Judgement },
): Promise<boolean> =>
  transitionCase(tx, rehearsalCase, {
    status: 'settled',
    ...comparison.judgement,
    ...(recorded && { recorded: comparison.recorded }),
    rehearsed: { ...comparison.rehearsed, duration_ms: rehearsed.durationMs },
  });

/** Rehearses the version that the candidate was made from; if it is refused, the case is judged without it. */
async function rehearseBase(
  deps: CandidateDeps,
  candidate: Candidate,
  rehearsalCase: Case,
  outcomes: CaseOutcomes,
): Promise<void> {
  const { recordedRun } = outcomes;
  const worker = await findWorkerByUid(deps.prisma, candidate.workspaceId, candidate.workerUid);
  if (!worker || !recordedRun) return;
  await transaction(deps.pool, async (tx) => {
    if (!(await lockCandidate(tx, candidate.id)) || !(await isCaseUnchanged(tx, rehearsalCase))) return;
    const request = { ...buildRehearsalRequest(candidate, worker, recordedRun), version: candidate.baseNumber };
    const started = await startRehearsal(deps, tx, request);
    if (!(started instanceof AppError)) {
      await transitionCase(tx, rehearsalCase, { status: 'pairing', baseRunId: started.id });
      return;
    }
    const base = buildInconclusiveOutcome(started.detail);
    const { judgement, ...shownOutcomes } = await compareOutcomes(deps, candidate, { ...outcomes, base });
    if (judgement) await settleCase(tx, rehearsalCase, outcomes, { judgement, ...shownOutcomes });
    await finishCandidateIfSettled(tx, candidate);
  });
}
