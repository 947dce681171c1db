/**
 * A run that its caller waits for. Where it waits for an approval that the caller may decide, and the client can ask
 * people, the call ends with the question; the client calls again with the answer, which is decided by the operation
 * that HTTP has, and the call waits on. Nothing is kept here in between.
 */
import type { ApiClient, ApiResponse } from '@gantry/http';
import {
  type CallToolResult,
  type InputRequiredResult,
  type InputResponseView,
  inputRequired,
} from '@modelcontextprotocol/server';
import { buildElicitation, type PendingApproval, parseVerdict } from './approval-elicitation';
import type { Json } from './operation-schemas';
import type { RequestState } from './request-state';
import { buildErrorResult, formatErrorResponse, toErrorResult, toToolResult } from './tool-result';

export type ToolResult = CallToolResult | InputRequiredResult;

/** The client's ways of asking a person. */
export interface ElicitationSupport {
  seal: (state: RequestState) => string;
  /** The state of the previous call, with the client's response. Null for the first call. */
  resumed: { state: RequestState; response: InputResponseView } | null;
}

export interface WaitContext {
  client: ApiClient;
  signal: AbortSignal;
  /** Between 0 and `total`; heard by clients that asked for it. */
  progress: (done: number, total: number, message: string) => Promise<void>;
  /** Null for a client that cannot ask people, or that was offered no tool to decide. */
  asking: ElicitationSupport | null;
}

/** The name of the question in a result that asks, and of its answer. */
export const QUESTION = 'approval';

const WAIT_MS = 50_000;
const POLL_MS = 1_000;
/** A person has to act before it goes on. */
const APPROVAL_REQUIRED = 'pending_approval';
const ENDED = ['completed', 'failed', 'cancelled', 'timed_out', 'rejected'];

/** @returns the run once it has ended or the time is over, or what it asks */
export async function waitForRun(context: WaitContext, runId: string): Promise<ToolResult> {
  const run = await pollUntilEnd(context, runId);
  if (run.status !== 200) return toStillRunningResult(run, runId);
  const waitsForSomebody = (run.body as { status: string }).status === APPROVAL_REQUIRED;
  return (waitsForSomebody && (await elicitDecision(context, runId))) || toToolResult({ isList: false }, run);
}

/** After the client's answer. A person who would not say is no verdict: the approval stays as it is. */
export async function resumeElicitation(
  context: WaitContext,
  resumed: NonNullable<ElicitationSupport['resumed']>,
): Promise<ToolResult> {
  const { response, state } = resumed;
  const { runId, approvalId } = state;
  if (response.kind === 'elicit' && response.action !== 'accept') {
    const run = await fetchRun(context, runId);
    return run.status === 200 ? toToolResult({ isList: false }, run) : toStillRunningResult(run, runId);
  }
  const decision = response.kind === 'elicit' ? parseVerdict(response.content ?? {}) : null;
  if (!decision) return waitForRun(context, runId);
  const decided =
    decision.verdict === 'refuse'
      ? await rejectCalls(context, approvalId, decision.body)
      : await sendDecision(context, approvalId, decision.verdict, decision.body);
  if (decided.status === 400)
    return (await elicitDecision(context, runId, formatErrorResponse(decided))) ?? toStillRunningResult(decided, runId);
  return decided.status === 200 ? waitForRun(context, runId) : toStillRunningResult(decided, runId);
}

const sendDecision = ({ client, signal }: WaitContext, approvalId: string, verdict: 'approve' | 'reject', body: Json) =>
  client({
    surface: 'worker',
    method: 'POST',
    signal,
    body,
    path: `/api/approvals/${encodeURIComponent(approvalId)}/${verdict}`,
  });

/** All of them, and the run goes on. */
async function rejectCalls(context: WaitContext, approvalId: string, body: Json): Promise<ApiResponse> {
  const { client, signal } = context;
  const path = `/api/approvals/${encodeURIComponent(approvalId)}`;
  const found = await client({ surface: 'worker', method: 'GET', path, signal });
  if (found.status !== 200) return found;
  const calls = (found.body as PendingApproval).calls ?? [];
  return sendDecision(context, approvalId, 'approve', {
    ...body,
    calls: calls.map(({ id }) => ({ id, decision: 'refuse' })),
  });
}

/** A refusal that leaves the run to itself. */
function toStillRunningResult(response: ApiResponse, runId: string): CallToolResult {
  const { content } = toErrorResult(response);
  return {
    ...buildErrorResult(''),
    content: [...content, { type: 'text', text: `Call get_run for more information about ${runId}.` }],
  };
}

const fetchRun = ({ client, signal }: WaitContext, runId: string): Promise<ApiResponse> =>
  client({ surface: 'worker', method: 'GET', path: `/api/runs/${encodeURIComponent(runId)}`, signal });

async function pollUntilEnd(context: WaitContext, runId: string): Promise<ApiResponse> {
  const began = Date.now();
  for (;;) {
    const run = await fetchRun(context, runId);
    const { status } = run.body as { status: string };
    if (run.status !== 200 || ENDED.includes(status) || status === APPROVAL_REQUIRED) return run;
    await context.progress(Date.now() - began, WAIT_MS, `Run status: ${status}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    if (Date.now() - began >= WAIT_MS || context.signal.aborted) return run;
  }
}

/** @returns undefined without a person to ask: this caller may not decide, or a client could not show the form */
async function elicitDecision(
  { client, signal, asking }: WaitContext,
  runId: string,
  problem?: string,
): Promise<InputRequiredResult | undefined> {
  if (!asking) return undefined;
  const query = new URLSearchParams({ run_id: runId, status: 'pending', limit: '1' });
  const found = await client({ surface: 'worker', method: 'GET', path: `/api/approvals?${query}`, signal });
  const [approval] = found.status === 200 ? (found.body as PendingApproval[]) : [];
  const question = approval?.permissions.decide ? buildElicitation(approval, problem) : null;
  if (!approval || !question) return undefined;
  return inputRequired({
    inputRequests: { [QUESTION]: question },
    requestState: asking.seal({ runId, approvalId: approval.id }),
  });
}
