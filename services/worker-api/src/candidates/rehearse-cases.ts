/**
 * Rehearses candidates case by case. A case is `waiting`, then its rehearsal is under way (`rehearsing`), then perhaps
 * that of the version that the candidate was made from (`pairing`), then it is `settled`. Each step is a
 * compare-and-set in one transaction with the rehearsal that it begins, so that any replica may take it, once; the loop
 * resumes steps that a crashed replica left undone (trial-loop.ts).
 */

import { AppError } from '@gantry/errors';
import { addChangeHint } from '@gantry/events';
import { transaction } from '@gantry/postgres';
import { isTerminal, type Run } from '@gantry/run-engine';
import type { PoolClient } from 'pg';
import { isAwaitingApproval } from '../runs/admit-code';
import { rehearse } from '../runs/rehearse';
import { type Runnable, toRunnable } from '../runs/runnable';
import { findWorkerByUid, type WorkerWithTriggers } from '../workers/worker-repository';
import type { Candidate, Case } from './candidate';
import type { CandidateDeps } from './candidate-deps';
import {
  countActiveCases,
  findCandidate,
  findCaseByRehearsal,
  isCaseUnchanged,
  listCases,
  lockCandidate,
  lockWorkerTrials,
  transitionCandidate,
  transitionCase,
} from './candidate-repository';
import { loadCandidateScope } from './candidate-scope';
import type { Judgement } from './judge-case';
import { type CaseJudgement, type StoredEnding, toApiEnding } from './judge-endings';
import { buildInconclusiveEnding, loadEnding } from './load-ending';

/** Concurrent rehearsals of one worker: the executors are for runs that people wait for. */
const CONCURRENT_REHEARSALS_MAX = 3;

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
  const next = (await listCases(pool, candidateId))
    .filter(({ status }) => status === 'waiting')
    .slice(0, CONCURRENT_REHEARSALS_MAX);
  const recorded = new Map<string, Run | null>();
  for (const { runId } of next) recorded.set(runId, await findRun(deps, candidate.workspaceId, runId));
  await transaction(pool, async (tx) => {
    await lockWorkerTrials(tx, candidate.workerUid);
    if ((await lockCandidate(tx, candidateId))?.status !== 'rehearsing') return;
    if (!worker || !draft) {
      await transitionCandidate(tx, candidateId, ['rehearsing'], { status: 'failed', error: 'the worker was deleted' });
      return;
    }
    let room = CONCURRENT_REHEARSALS_MAX - (await countActiveCases(tx, candidate.workerUid));
    for (const rehearsalCase of next) {
      if (room <= 0) break;
      if (!(await isCaseUnchanged(tx, rehearsalCase))) continue;
      if (
        await startRehearsal(deps, tx, {
          candidate,
          worker,
          draft,
          rehearsalCase,
          recordedRun: recorded.get(rehearsalCase.runId) ?? null,
        })
      )
        room--;
    }
    await finishCandidate(tx, candidate);
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

interface RehearsalStart {
  candidate: Candidate;
  worker: WorkerWithTriggers;
  draft: Runnable;
  rehearsalCase: Case;
  recordedRun: Run | null;
}

/** @returns whether a rehearsal is under way: a case for which none can be made is settled at once */
async function startRehearsal(
  deps: CandidateDeps,
  tx: PoolClient,
  { candidate, worker, draft, rehearsalCase, recordedRun }: RehearsalStart,
): Promise<boolean> {
  if (!recordedRun) {
    const reason = 'the recorded run is gone: it is older than the workspace keeps runs';
    await transitionCase(tx, rehearsalCase, { status: 'settled', outcome: 'inconclusive', reason });
    return false;
  }
  const asked = {
    worker,
    draft,
    inputs: recordedRun.inputs,
    of: recordedRun,
    createdBy: candidate.createdBy,
    isUnread: isUnreviewed(candidate),
  };
  const run = await rehearse(deps, { ...asked, tx }).catch(toRefusal);
  if ('id' in run) return transitionCase(tx, rehearsalCase, { status: 'rehearsing', rehearsalRunId: run.id });
  const { outcome, reason } = judgeRefusal(run, recordedRun);
  await transitionCase(tx, rehearsalCase, { status: 'settled', outcome, reason });
  return false;
}

/** True for code that a model wrote, perhaps after it had read untrusted text. */
const isUnreviewed = ({ repairId }: Candidate): boolean => repairId !== null;

/** Rethrows unexpected errors; an AppError was thrown before anything was written. */
function toRefusal(err: unknown): AppError {
  if (err instanceof AppError) return err;
  throw err;
}

/**
 * Judges a refused rehearsal: rejecting inputs that the base version accepted is worse; other refusals are no evidence.
 */
function judgeRefusal({ kind, detail }: AppError, recordedRun: Run): Pick<Judgement, 'outcome' | 'reason'> {
  if (kind !== 'invalid') return { outcome: 'inconclusive', reason: `it could not be rehearsed: ${detail}` };
  return {
    outcome: recordedRun.status === 'completed' ? 'broken' : 'still_failing',
    reason: `it refuses the inputs: ${detail}`,
  };
}

/**
 * Finishes the candidate after its last case, in a transaction that has locked it. A repair of approved code goes to a
 * person even if no rehearsal could be made, for example since it needs another package.
 */
async function finishCandidate(tx: PoolClient, { id, workspaceId, repairId, needsApproval }: Candidate): Promise<void> {
  const cases = await listCases(tx, id);
  if (cases.some(({ status }) => status !== 'settled')) return;
  const wasRehearsed = cases.length === 0 || cases.some(({ rehearsalRunId }) => rehearsalRunId !== null);
  const canBeDecided = wasRehearsed || (repairId !== null && !needsApproval);
  await transitionCandidate(
    tx,
    id,
    ['rehearsing'],
    canBeDecided ? { status: 'ready' } : { status: 'failed', error: cases[0]?.reason ?? 'no rehearsal could be made' },
  );
  addChangeHint(tx, workspaceId, 'workers');
}

/**
 * Settles the case that waited for this rehearsal, or pairs it with its base. Does nothing if no case waits any more.
 */
export async function handleRehearsalEnd(deps: CandidateDeps, rehearsalRunId: string): Promise<void> {
  const { pool } = deps;
  const one = await findCaseByRehearsal(pool, rehearsalRunId);
  const candidate = one && (await findCandidate(pool, one.candidateId));
  if (!one || !candidate) return;
  const run = await findRun(deps, candidate.workspaceId, rehearsalRunId);
  if (run && !isTerminal(run.status)) return;
  const endings = await loadEndings(deps, candidate, one);
  const { judgement, ...shownEndings } = await judge(deps, candidate, endings);
  if (judgement) {
    await transaction(pool, async (tx) => {
      if (!(await lockCandidate(tx, candidate.id))) return;
      await settleCase(tx, one, endings, { judgement, ...shownEndings });
      await finishCandidate(tx, candidate);
    });
  } else {
    await rehearseBase(deps, candidate, one, endings);
  }
  await advanceCandidate(deps, candidate.id);
}

interface Endings {
  recordedRun: Run | null;
  rehearsal: Run | null;
  recorded: StoredEnding | null;
  rehearsed: StoredEnding;
  /** Null: it was not rehearsed. */
  base: StoredEnding | null;
}

async function loadEndings(deps: CandidateDeps, { workspaceId }: Candidate, rehearsalCase: Case): Promise<Endings> {
  const find = (id: string | null) => (id === null ? null : findRun(deps, workspaceId, id));
  const [recordedRun, rehearsal, base] = await Promise.all([
    find(rehearsalCase.runId),
    find(rehearsalCase.rehearsalRunId),
    find(rehearsalCase.baseRunId),
  ]);
  const gone = buildInconclusiveEnding('the rehearsal is gone: it is older than the workspace keeps runs');
  return {
    recordedRun,
    rehearsal,
    recorded: recordedRun && (await loadEnding(deps, recordedRun)),
    rehearsed: rehearsal ? await loadEnding(deps, rehearsal) : gone,
    base: rehearsalCase.status === 'rehearsing' ? null : base ? await loadEnding(deps, base) : gone,
  };
}

/** @throws Error if the pool is busy */
async function judge(
  { caseJudge, log }: CandidateDeps,
  { id, status }: Candidate,
  { recorded, rehearsed, base }: Endings,
): Promise<CaseJudgement> {
  const gone = 'the recorded run is gone: it is older than the workspace keeps runs';
  const was = recorded ?? buildInconclusiveEnding(gone);
  const isDecided = status !== 'rehearsing';
  const outcome = await caseJudge.run({
    recorded: was,
    rehearsed,
    base: base ?? (isDecided ? buildInconclusiveEnding('the candidate was decided before') : null),
  });
  if ('result' in outcome)
    return recorded ? outcome.result : { ...outcome.result, judgement: toInconclusiveJudgement(gone) };
  const { reason, problem } = outcome;
  if (reason === 'busy') throw new Error(`case not judged: ${problem}`);
  log.warn({ candidateId: id, problem }, 'the outputs of a case were not compared');
  const toApiError = (ending: StoredEnding) => ({
    ...toApiEnding({ ...ending, output: undefined }),
    output: null,
  });
  return {
    judgement: toInconclusiveJudgement('the outputs take more time or memory to compare than they may'),
    recorded: toApiError(was),
    rehearsed: toApiError(rehearsed),
  };
}

const toInconclusiveJudgement = (reason: string): Judgement => ({ outcome: 'inconclusive', reason, differences: [] });

async function settleCase(
  tx: PoolClient,
  rehearsalCase: Case,
  { recorded, rehearsal }: Endings,
  judged: CaseJudgement & { judgement: Judgement },
): Promise<void> {
  const { startedAt = null, finishedAt = null } = rehearsal ?? {};
  const durationMs = startedAt && finishedAt ? Math.max(0, finishedAt.getTime() - startedAt.getTime()) : null;
  await transitionCase(tx, rehearsalCase, {
    status: 'settled',
    ...judged.judgement,
    ...(recorded && { recorded: judged.recorded }),
    rehearsed: { ...judged.rehearsed, duration_ms: durationMs },
  });
}

/** Rehearses the version that the candidate was made from; if it is refused, the case is judged without it. */
async function rehearseBase(
  deps: CandidateDeps,
  candidate: Candidate,
  rehearsalCase: Case,
  endings: Endings,
): Promise<void> {
  const { recordedRun } = endings;
  const worker = await findWorkerByUid(deps.prisma, candidate.workspaceId, candidate.workerUid);
  await transaction(deps.pool, async (tx) => {
    if (
      !(await lockCandidate(tx, candidate.id)) ||
      !(await isCaseUnchanged(tx, rehearsalCase)) ||
      !worker ||
      !recordedRun
    )
      return;
    const version = candidate.baseNumber;
    const { createdBy } = candidate;
    // Under the rules of the candidate, or the rules would be the difference.
    const asked = {
      worker,
      version,
      inputs: recordedRun.inputs,
      of: recordedRun,
      createdBy,
      isUnread: isUnreviewed(candidate),
    };
    const run = await rehearse(deps, { ...asked, tx }).catch(toRefusal);
    if ('id' in run) {
      await transitionCase(tx, rehearsalCase, { status: 'pairing', baseRunId: run.id });
      return;
    }
    const { judgement, ...shownEndings } = await judge(deps, candidate, {
      ...endings,
      base: buildInconclusiveEnding(run.detail),
    });
    if (judgement) await settleCase(tx, rehearsalCase, endings, { judgement, ...shownEndings });
    await finishCandidate(tx, candidate);
  });
}

async function findRun({ engine }: CandidateDeps, workspaceId: string, runId: string): Promise<Run | null> {
  return engine.get(workspaceId, runId).catch((err) => {
    if (err instanceof AppError && err.kind === 'not_found') return null;
    throw err;
  });
}
