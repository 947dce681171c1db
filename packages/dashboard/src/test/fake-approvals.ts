/** Fakes approvals of the worker surface, for members and for review links. */
import type { WorkerSchemas } from '@gantry/sdk';
import type { CallDecisionInput } from '../approvals/decision-form';
import { type FakeRequest, type FakeResponse, takeRefusal } from './fake-accounts';
import { PERSON } from './person';

type Approval = WorkerSchemas['Approval'];

export interface FakeApprovals {
  list: Approval[];
  /** Approval by the token of its link. */
  links: Map<string, Approval>;
  /** The body of each decision, and whether a credential came with it. */
  decisions: { line: string; body: Record<string, unknown>; signedIn: boolean; workspaceId: string | undefined }[];
  /** The error response to the next decision. */
  refuseNext: FakeResponse | null;
}

export const createApprovalState = (): FakeApprovals => ({
  list: [],
  links: new Map(),
  decisions: [],
  refuseNext: null,
});

const HOUR_MS = 3_600_000;

export const buildApproval = (id: string, over: Partial<Approval> = {}): Approval => ({
  id,
  kind: 'run',
  run_id: 'run_1',
  candidate_id: null,
  worker_id: 'refunds',
  worker_name: 'Refunds',
  status: 'pending',
  title: 'Refund order 1001?',
  message:
    'The customer wrote **twice** and sent [the receipt](https://shop.example.com/r/1001).\n\n## What we know\n\n- paid by card\n- delivered late',
  data: { order: 1001, customer: 'Müller & Söhne', amount: 120.5, paid: true, voucher: null },
  form: [
    { name: 'amount', label: 'Amount to pay back', type: 'number', required: true, minimum: 1, maximum: 120.5 },
    { name: 'speed', type: 'select', options: ['with the next batch', 'at once'], required: true },
    { name: 'note', label: 'Note for the customer', type: 'textarea' },
  ],
  requested_by: 'usr_ada',
  requested_at: new Date(Date.now() - HOUR_MS).toISOString(),
  expires_at: new Date(Date.now() + 48 * HOUR_MS).toISOString(),
  decided_at: null,
  decided_by: null,
  decided_by_label: null,
  reason: null,
  answer: null,
  calls: null,
  review_url: null,
  permissions: { decide: true },
  ...over,
});

const errorResponse = (status: number, detail: string): FakeResponse => ({ status, body: { detail } });

/** Returns undefined for requests of another surface. */
export async function handleApprovalRequest(fake: FakeApprovals, req: FakeRequest): Promise<FakeResponse | undefined> {
  const { part, query, signedIn } = req;
  if (part[2] === 'reviews') return handleReviewRequest(fake, req);
  if (part[2] !== 'approvals') return undefined;
  if (!signedIn) return errorResponse(401, 'sign in');
  const pendingApprovals = fake.list.filter(({ status }) => status === 'pending');
  if (!part[3]) {
    const candidateId = query.get('candidate_id');
    const list = query.get('status') === 'pending' ? pendingApprovals : fake.list;
    return {
      status: 200,
      body: candidateId === null ? list : list.filter(({ candidate_id }) => candidate_id === candidateId),
    };
  }
  if (part[3] === 'count') return { status: 200, body: { pending: pendingApprovals.length } };
  const approval = fake.list.find(({ id }) => id === part[3]);
  if (!approval) return errorResponse(404, 'no such approval');
  if (part[4]) return decide(fake, req, approval, PERSON.email);
  return { status: 200, body: approval };
}

async function handleReviewRequest(fake: FakeApprovals, req: FakeRequest): Promise<FakeResponse> {
  const approval = fake.links.get(req.part[3] ?? '');
  if (!approval) return errorResponse(404, 'this link is incomplete or no longer valid');
  const refusal = req.part[4] ? await decide(fake, req, approval, null) : undefined;
  return refusal && refusal.status >= 400 ? refusal : { status: 200, body: toReview(approval) };
}

async function decide(
  fake: FakeApprovals,
  { line, part, body, signedIn, workspaceId }: FakeRequest,
  approval: Approval,
  email: string | null,
): Promise<FakeResponse> {
  const input = (await body()) as Record<string, unknown>;
  const refusal = takeRefusal(fake);
  if (refusal) return refusal;
  if (approval.status !== 'pending') return errorResponse(409, `this approval was ${approval.status} already`);
  fake.decisions.push({ line, body: input, signedIn, workspaceId });
  const label = email ?? `link: ${input.name}`;
  for (const { id, decision, arguments: corrected, reason } of (input.calls ?? []) as CallDecisionInput[]) {
    const call = approval.calls?.find((one) => one.id === id);
    const status = decision === 'refuse' ? 'refused' : corrected ? 'corrected' : 'approved';
    if (call) call.decision = { status, arguments: corrected ?? null, reason: reason ?? null };
  }
  Object.assign(approval, {
    status: part[4] === 'approve' ? 'approved' : 'rejected',
    decided_at: new Date().toISOString(),
    decided_by: label,
    decided_by_label: label,
    reason: input.reason ?? null,
    permissions: { decide: false },
  });
  return { status: 200, body: approval };
}

const toReview = (approval: Approval): WorkerSchemas['Review'] => {
  const { status, title, message, data, form, calls, worker_name, requested_at, expires_at, reason } = approval;
  const { decided_at, decided_by } = approval;
  return {
    approval_id: approval.id,
    workspace_id: 'ws_lab',
    started_by: 'Ada',
    status,
    title,
    message,
    data,
    form,
    calls,
    worker_name,
    requested_at,
    expires_at,
    decided_at,
    decided_by,
    reason,
  };
};
