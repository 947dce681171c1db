/** Decides from a report whether the model proposes again or an approver decides. */
import { addChangeHint, newId } from '@gantry/events';
import { mapStrings, maskTruncated, type Redactor } from '@gantry/masking';
import { transaction } from '@gantry/postgres';
import type { PoolClient } from 'pg';
import { insertCandidateApproval } from '../approvals/request-approval';
import { type Candidate, type Case, type Summary, summarizeCases } from '../candidates/candidate';
import { findCandidate, listCases, listProposals } from '../candidates/candidate-repository';
import { dropCandidateInTransaction, PLATFORM } from '../candidates/decide-candidate';
import { delimitData } from '../models/delimit-data';
import { truncateText } from '../rehearsals/compare-outputs';
import { findWorkerByUid } from '../workers/worker-repository';
import type { Repair } from './repair';
import type { RepairDeps } from './repair-deps';
import { insertMessage, renewRepairLease, updateRepair } from './repair-repository';

/** Limits the candidates of one repair. */
const CANDIDATES_MAX = 3;
const REPORT_CHARS_MAX = 16_000;

interface Trial {
  candidate: Candidate;
  cases: Case[];
  summary: Summary;
  /** The case of the run that is repaired. */
  failedRunCase: Case | undefined;
}

/** Returns true if the candidate fixes the failed run and no other run regressed. */
const isProven = ({ candidate, failedRunCase, summary }: Trial): boolean =>
  candidate.status === 'ready' && failedRunCase?.outcome === 'fixed' && summary.broken === 0 && summary.different === 0;

/** Lets the model propose again, or ends the repair. @returns whether it awaits an approver now, or has ended */
export async function continueOrEndRepair(
  deps: RepairDeps,
  repair: Repair,
  { replica, canRetry }: { replica: string; canRetry: boolean },
): Promise<boolean> {
  const trials = await loadTrials(deps, repair);
  const last = trials.find(({ candidate }) => candidate.id === repair.candidateId);
  if (!last || isProven(last) || trials.length >= CANDIDATES_MAX || !canRetry) {
    await endRepair(deps, repair, { replica, error: 'none of its candidates could be rehearsed' });
    return true;
  }
  await storeReport(deps, repair, last, { replica, trialCount: trials.length });
  return false;
}

/** Stores the model's next message, which the repair loop sends. */
async function storeReport(
  deps: RepairDeps,
  repair: Repair,
  trial: Trial,
  { replica, trialCount }: { replica: string; trialCount: number },
): Promise<void> {
  const secrets = await deps.secrets.valuesOf(repair.workspaceId);
  const report = buildReport(trial, trialCount, createShorteningMasker(await deps.masking.redactorFor(secrets)));
  await transaction(deps.pool, async (tx) => {
    if (!(await renewRepairLease(tx, repair.id, replica))) return;
    await insertMessage(tx, repair.id, { role: 'user', content: { text: report } });
    await updateRepair(tx, repair.id, { isReportDue: false });
    addChangeHint(tx, repair.workspaceId, 'runs', repair.runId);
  });
}

async function loadTrials({ pool }: RepairDeps, { id, runId }: Repair): Promise<Trial[]> {
  const trials: Trial[] = [];
  for (const candidateId of await listProposals(pool, id)) {
    const candidate = await findCandidate(pool, candidateId);
    if (!candidate) continue;
    const cases = await listCases(pool, candidateId);
    trials.push({
      candidate,
      cases,
      summary: summarizeCases(cases),
      failedRunCase: cases.find((one) => one.runId === runId),
    });
  }
  return trials;
}

function buildReport(
  { cases, failedRunCase, candidate }: Trial,
  trialCount: number,
  mask: (text: string) => string,
): string {
  const reportedCases = cases.map(({ runId, rehearsalRunId, outcome, reason, recorded, rehearsed, differences }) => ({
    run_id: runId,
    rehearsal_run_id: rehearsalRunId,
    outcome,
    reason,
    recorded,
    rehearsed,
    differences: differences?.slice(0, 10),
  }));
  const remaining = CANDIDATES_MAX - trialCount;
  return `${candidate.error ? 'Your proposal could not be rehearsed.' : `Your proposal was rehearsed. ${describeOutcome(failedRunCase)}`} You can make ${remaining} more proposal${remaining === 1 ? '' : 's'}. The report:\n${delimitData(newId('call_'), truncateText(JSON.stringify(mapStrings(reportedCases, mask)), REPORT_CHARS_MAX))}`;
}

function describeOutcome(failedRunCase: Case | undefined): string {
  if (failedRunCase?.outcome === 'fixed') return 'It fixes the failed run but changes the results of other runs.';
  if (failedRunCase?.outcome === 'still_failing') return 'It does not fix the failed run.';
  return 'The rehearsals do not show whether it fixes the failed run.';
}

/** Masks shortened texts of a report: the rest of a secret at the cut would not match as a whole. */
const createShorteningMasker =
  (redactor: Redactor) =>
  (text: string): string =>
    text.endsWith('…') ? `${maskTruncated(redactor, text.slice(0, -1))}…` : redactor.text(text);

/** Finds the best candidate: a fixed run counts most, then fewer regressions. */
function findBestTrial(trials: Trial[]): Trial | undefined {
  const computeScore = ({ failedRunCase, summary }: Trial) =>
    (failedRunCase?.outcome === 'fixed' ? 1_000 : failedRunCase?.outcome === 'inconclusive' ? 100 : 0) -
    summary.broken * 10 -
    summary.different;
  return trials
    .filter(({ candidate }) => candidate.status === 'ready')
    .sort((a, b) => computeScore(a) - computeScore(b))
    .at(-1);
}

/**
 * Submits the best candidate for approval with its evidence, and drops the others; without a candidate the repair
 * fails.
 * @param error why it fails without a candidate
 */
export async function endRepair(
  deps: RepairDeps,
  repair: Repair,
  { replica, error }: { replica: string; error: string },
): Promise<void> {
  const trials = await loadTrials(deps, repair);
  const best = findBestTrial(trials);
  const worker = await findWorkerByUid(deps.prisma, repair.workspaceId, repair.workerUid);
  await transaction(deps.pool, async (tx) => {
    if (!(await renewRepairLease(tx, repair.id, replica))) return;
    const isOffered = worker && best;
    if (isOffered) await requestApproval(deps, tx, repair, best, worker);
    else await updateRepair(tx, repair.id, { status: 'failed', error: truncateText(error, 2_000), isReportDue: false });
    for (const { candidate } of trials) {
      if (candidate.id === (isOffered && best.candidate.id)) continue;
      await dropCandidateInTransaction(tx, candidate, worker?.id ?? repair.workerUid, PLATFORM, deps.now());
    }
    addChangeHint(tx, repair.workspaceId, 'runs', repair.runId);
  });
}

async function requestApproval(
  deps: RepairDeps,
  tx: PoolClient,
  { id, workspaceId, runId, createdBy }: Repair,
  trial: Trial,
  worker: { uid: string; id: string; name: string },
): Promise<void> {
  const { candidate, summary } = trial;
  const proven = isProven(trial);
  const explanation = (candidate.message ?? '').replace(/^Repair: /, '');
  const approvalId = await insertCandidateApproval(deps, tx, {
    workspaceId,
    runId,
    candidateId: candidate.id,
    worker,
    version: candidate.baseNumber,
    requestedBy: createdBy,
    title: `Repair ${worker.name}`.slice(0, 200),
    message: `${formatEvidence(trial, proven)}\n\n${explanation}`,
    data: {
      repair_id: id,
      candidate_id: candidate.id,
      proven,
      summary,
      base_sha: candidate.baseSha,
      sha: candidate.sha,
    },
  });
  const change = { candidateId: candidate.id, explanation, proven, approvalId, isReportDue: false };
  await updateRepair(tx, id, { ...change, status: 'waiting' });
}

function formatEvidence({ failedRunCase, summary }: Trial, proven: boolean): string {
  const others = summary.total - (failedRunCase ? 1 : 0);
  const unchangedRuns = `${summary.same} of ${others} other runs give the same result as before`;
  const inconclusiveRuns = summary.inconclusive ? `; ${summary.inconclusive} inconclusive` : '';
  if (proven)
    return `**Proven in rehearsals.** The failed run completes with this change, and ${unchangedRuns}${inconclusiveRuns}.`;
  const why = failedRunCase?.reason ? ` (${failedRunCase.reason})` : '';
  const first =
    failedRunCase?.outcome === 'fixed'
      ? 'The failed run completes with this change, but the results of other runs change.'
      : failedRunCase?.outcome === 'still_failing'
        ? `The failed run still fails with this change${why}.`
        : `The rehearsals do not show whether the failed run completes with this change${why}.`;
  return `**Not proven.** ${first} ${unchangedRuns}; ${summary.broken} that completed before the change now fail, and ${summary.different} give a different result${inconclusiveRuns}.`;
}
