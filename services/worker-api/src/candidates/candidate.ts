/** Maps candidates to their API representation. */

import { createPermissionTable, toApiFields } from '@gantry/http';
import { isUnrestrictedPerson, type Principal } from '@gantry/limits';
import { openapiFiles, type SurfaceSchemas } from '@gantry/openapi';
import type { FileEntry } from '../file-trees/file-tree';
import type { TreePack } from '../file-trees/tree-pack';
import type { CandidateCase, VersionApproval, WorkerCandidate } from '../generated/prisma/client';
import type { Difference } from '../rehearsals/compare-outputs';
import { type ApiRunOutcome, OUTCOMES, type Outcome } from '../rehearsals/compare-run-outcomes';
import { countResults } from '../rehearsals/count-results';
import { compareVersions } from '../workers/compare-versions';
import type { Definition } from '../workers/definition';
import { type ApprovableCode, approvalToApi } from '../workers/version-approval';
import type { Version } from '../workers/version-repository';

export type CandidateStatus = 'rehearsing' | 'ready' | 'promoted' | 'dropped' | 'failed';

/** Statuses without a decision. */
export const OPEN_STATUSES: readonly CandidateStatus[] = ['rehearsing', 'ready', 'failed'];

/** Made by a person if `repairId` is null. */
export interface Candidate
  extends Omit<WorkerCandidate, 'definition' | 'files' | 'codeDigest' | 'codeKey' | 'codeSize' | 'warnings'> {
  status: CandidateStatus;
  definition: Definition;
  files: FileEntry[];
  code: TreePack;
  warnings: string[];
}

export interface Case extends Omit<CandidateCase, 'recorded' | 'rehearsed' | 'differences'> {
  status: 'waiting' | 'rehearsing' | 'pairing' | 'settled';
  recorded: ApiRunOutcome | null;
  rehearsed: SurfaceSchemas<'worker'>['RehearsedEnd'] | null;
  outcome: Outcome | null;
  differences: Difference[] | null;
}

export type Summary = Record<Outcome | 'total', number>;

export const summarizeCases = (cases: Pick<Case, 'outcome'>[]): Summary => countResults(OUTCOMES, cases);

const permissionsFor = createPermissionTable(openapiFiles.worker, {
  promote: 'promoteCandidate',
  drop: 'dropCandidate',
  approve: 'approveCandidate',
});

export interface CandidateView {
  candidate: Candidate;
  approval: VersionApproval | undefined;
  summary: Summary;
  /** The slug. */
  workerId: string;
  caller: Principal;
}

/** Returns its code as an approval names it: a model wrote that of a repair. */
export const toApprovableCode = ({ sha, needsApproval, repairId }: Candidate): ApprovableCode => ({
  sha,
  needsApproval: needsApproval || repairId !== null,
});

export function candidateToItem({ candidate, approval, summary, workerId, caller }: CandidateView) {
  const { status, repairId, sha } = candidate;
  const permissions = permissionsFor(caller.role, caller.restriction);
  const isUndecided = OPEN_STATUSES.includes(status) && repairId === null;
  const versionApproval = approvalToApi(candidate, approval);
  const isRefused = versionApproval?.status === 'waiting' && caller.restriction !== undefined;
  return {
    ...toApiFields(candidate, 'id', 'status', 'repairId', 'baseSha', 'sha', 'message', 'error', 'warnings'),
    ...toApiFields(candidate, 'createdBy', 'createdByLabel', 'createdAt', 'decidedBy', 'decidedByLabel', 'decidedAt'),
    worker_id: workerId,
    origin: repairId === null ? 'person' : 'repair',
    version_sha: status === 'promoted' ? sha : null,
    version_approval: versionApproval,
    summary,
    permissions: {
      promote: permissions.promote && isUndecided && !isRefused,
      drop: permissions.drop && isUndecided,
      approve: permissions.approve && isUndecided && isUnrestrictedPerson(caller),
    },
  };
}

export const candidateToApi = ({
  cases,
  base,
  ...shown
}: Omit<CandidateView, 'summary'> & { cases: Case[]; base: Version }) => ({
  ...candidateToItem({ ...shown, summary: summarizeCases(cases) }),
  changes: compareVersions(base, shown.candidate),
  cases: cases.map((one) => ({
    ...toApiFields(one, 'runId', 'rehearsalRunId', 'recorded', 'rehearsed', 'outcome', 'reason'),
    base_rehearsal_run_id: one.baseRunId,
    differences: one.differences ?? [],
  })),
});
