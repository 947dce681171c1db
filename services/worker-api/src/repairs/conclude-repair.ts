/** Decides from a report whether the model proposes again or an approver decides. */
import { hintChange, newId } from '@gantry/events';
import { SYSTEM } from '@gantry/http';
import { mapTexts, maskCut, type Redactor } from '@gantry/masking';
import { transaction } from '@gantry/postgres';
import type { PoolClient } from 'pg';
import { requestCandidateApprovalIn } from '../approvals/request-approval';
import { type Candidate, type Case, type Summary, summaryOf } from '../candidates/candidate';
import { findCandidate, listCases, listProposals } from '../candidates/candidate-repository';
import { shortened } from '../candidates/compare-outputs';
import { dropIn } from '../candidates/decide-candidate';
import { delimitData } from '../models/quoted-data';
import { findWorkerByUid } from '../workers/worker-repository';
import type { Repair } from './repair';
import type { RepairDeps } from './repair-deps';
import { changeRepair, holdRepair, insertMessage } from './repair-repository';

/** Limits the candidates of one repair. */
const PROPOSALS_MAX = 3;
const REPORT_CHARS_MAX = 16_000;

interface Trial {
  candidate: Candidate;
  cases: Case[];
  summary: Summary;
  /** The case of the run that is repaired. */
  own: Case | undefined;
}

/** Returns true if the candidate fixes the failed run and no other run regressed. */
const isProven = ({ candidate, own, summary }: Trial): boolean =>
  candidate.status === 'ready' && own?.outcome === 'fixed' && summary.broken === 0 && summary.different === 0;

/** @returns whether the repair awaits an approver now, or has ended */
export async function concludeReport(
  deps: RepairDeps,
  repair: Repair,
  { replica, mayGoOn }: { replica: string; mayGoOn: boolean },
): Promise<boolean> {
  const trials = await trialsOf(deps, repair);
  const last = trials.find(({ candidate }) => candidate.id === repair.candidateId);
  if (!last || isProven(last) || trials.length >= PROPOSALS_MAX || !mayGoOn) {
    await endRepair(deps, repair, { replica, error: 'no candidate of it could be rehearsed' });
    return true;
  }
  const secrets = await deps.secrets.valuesOf(repair.workspaceId);
  const report = buildReport(last, trials.length, maskShortened(await deps.masking.redactorFor(secrets)));
  await transaction(deps.pool, async (tx) => {
    if (!(await holdRepair(tx, repair.id, replica))) return;
    await insertMessage(tx, repair.id, { role: 'user', content: { text: report } });
    await changeRepair(tx, repair.id, { isReportDue: false });
    hintChange(tx, repair.workspaceId, 'runs', repair.runId);
  });
  return false;
}

async function trialsOf({ pool }: RepairDeps, { id, runId }: Repair): Promise<Trial[]> {
  const trials: Trial[] = [];
  for (const candidateId of await listProposals(pool, id)) {
    const candidate = await findCandidate(pool, candidateId);
    if (!candidate) continue;
    const cases = await listCases(pool, candidateId);
    trials.push({ candidate, cases, summary: summaryOf(cases), own: cases.find((one) => one.runId === runId) });
  }
  return trials;
}

function buildReport({ cases, own, candidate }: Trial, tried: number, masked: (text: string) => string): string {
  const told = cases.map(({ runId, rehearsalRunId, outcome, reason, recorded, rehearsed, differences }) => ({
    ...{ run_id: runId, rehearsal_run_id: rehearsalRunId, outcome, reason, recorded, rehearsed },
    differences: differences?.slice(0, 10),
  }));
  const left = PROPOSALS_MAX - tried;
  return `Your proposal was rehearsed. ${candidate.error ? 'No rehearsal could be made.' : saidOf(own)} You may propose ${left} more time${left === 1 ? '' : 's'}; the report:\n${delimitData(newId('call_'), shortened(JSON.stringify(mapTexts(told, masked)), REPORT_CHARS_MAX))}`;
}

function saidOf(own: Case | undefined): string {
  if (own?.outcome === 'fixed') return 'It mends the failed run, and changes others.';
  if (own?.outcome === 'still_failing') return 'It does not mend the failed run.';
  return 'Rehearsals do not show whether it mends the failed run.';
}

/** Masks shortened texts of a report: the rest of a secret at the cut would not match as a whole. */
const maskShortened =
  (redactor: Redactor) =>
  (text: string): string =>
    text.endsWith('…') ? `${maskCut(redactor, text.slice(0, -1))}…` : redactor.text(text);

/** Sorts the best candidate last: a fixed run counts most, then fewer regressions. */
function rank(trials: Trial[]): Trial[] {
  const score = ({ own, summary }: Trial) =>
    (own?.outcome === 'fixed' ? 1_000 : own?.outcome === 'inconclusive' ? 100 : 0) -
    summary.broken * 10 -
    summary.different;
  return trials.filter(({ candidate }) => candidate.status === 'ready').sort((a, b) => score(a) - score(b));
}

/**
 * Submits the best candidate for approval with its evidence, and drops the others; without a candidate the repair fails.
 * @param ending.error why it fails without a candidate
 */
export async function endRepair(
  deps: RepairDeps,
  repair: Repair,
  { replica, error }: { replica: string; error: string },
): Promise<void> {
  const trials = await trialsOf(deps, repair);
  const best = rank(trials).at(-1);
  const worker = await findWorkerByUid(deps.prisma, repair.workspaceId, repair.workerUid);
  await transaction(deps.pool, async (tx) => {
    if (!(await holdRepair(tx, repair.id, replica))) return;
    const offered = worker && best;
    if (offered) await offer(deps, tx, repair, best, worker);
    else await changeRepair(tx, repair.id, { status: 'failed', error: shortened(error, 2_000), isReportDue: false });
    for (const { candidate } of trials) {
      if (candidate.id === (offered && best.candidate.id)) continue;
      await dropIn(tx, candidate, worker?.id ?? repair.workerUid, { id: null, label: null, actor: SYSTEM }, deps.now());
    }
    hintChange(tx, repair.workspaceId, 'runs', repair.runId);
  });
}

async function offer(
  deps: RepairDeps,
  tx: PoolClient,
  { id, workspaceId, runId, createdBy }: Repair,
  trial: Trial,
  worker: { uid: string; id: string; name: string },
): Promise<void> {
  const { candidate, summary } = trial;
  const proven = isProven(trial);
  const explanation = (candidate.message ?? '').replace(/^Repair: /, '');
  const approvalId = await requestCandidateApprovalIn(deps, tx, {
    ...{ workspaceId, runId, candidateId: candidate.id, worker, version: candidate.baseNumber, requestedBy: createdBy },
    title: `Repair ${worker.name}`.slice(0, 200),
    message: `${evidenceOf(trial, proven)}\n\n${explanation}`,
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
  await changeRepair(tx, id, { ...change, status: 'waiting' });
}

function evidenceOf({ own, summary }: Trial, proven: boolean): string {
  const others = summary.total - (own ? 1 : 0);
  const counted = `${summary.same} of ${others} other runs give the same as before`;
  const silent = summary.inconclusive ? `; ${summary.inconclusive} show nothing` : '';
  if (proven) return `**Proven in rehearsals.** The failed run completes with this change, and ${counted}${silent}.`;
  const why = own?.reason ? ` (${own.reason})` : '';
  const first =
    own?.outcome === 'fixed'
      ? 'The failed run completes with this change, but it changes others.'
      : own?.outcome === 'still_failing'
        ? `The failed run still fails with this change${why}.`
        : `Rehearsals do not show whether the failed run completes with this change${why}.`;
  return `**Not proven.** ${first} ${counted}; ${summary.broken} fail that completed, ${summary.different} give something else${silent}.`;
}
