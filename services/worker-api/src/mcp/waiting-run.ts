import type { SurfaceClient, SurfaceResponse } from '@gantry/http';
/**
 * A run that its caller waits for. Where it waits for an approval that the caller may decide, and the client can ask
 * people, the call ends with the question; the client calls again with the answer, which is decided by the operation
 * that HTTP has, and the call waits on. Nothing is kept here in between.
 */
import {
  type CallToolResult,
  type InputRequiredResult,
  type InputResponseView,
  inputRequired,
} from '@modelcontextprotocol/server';

import { type PendingApproval, parseVerdict, questionAbout } from './approval-question';
import type { Json } from './operation-schemas';
import type { Asked } from './request-state';
import { formatAnswer, refusal, toRefusal, toToolResult } from './tool-result';

export type ToolResult = CallToolResult | InputRequiredResult;

/** The client's ways of asking a person. */
export interface Asking {
  seal: (state: Asked) => string;
  /** The state of the previous call, with the client's response. Null for the first call. */
  resumed: { state: Asked; answer: InputResponseView } | null;
}

export interface Waiting {
  client: SurfaceClient;
  signal: AbortSignal;
  /** Between 0 and `total`; heard by clients that asked for it. */
  progress: (done: number, total: number, message: string) => Promise<void>;
  /** Null for a client that cannot ask people, or that was offered no tool to decide. */
  asking: Asking | null;
}

/** The name of the question in a result that asks, and of its answer. */
export const QUESTION = 'approval';

const WAIT_MS = 50_000;
const LOOK_EVERY_MS = 1_000;
/** A person has to act before it goes on. */
const NEEDS_SOMEBODY = 'pending_approval';
const ENDED = ['completed', 'failed', 'cancelled', 'timed_out', 'rejected'];

/** @returns the run once it has ended or the time is over, or what it asks */
export async function waitForRun(waiting: Waiting, runId: string): Promise<ToolResult> {
  const run = await pollUntilEnd(waiting, runId);
  if (run.status !== 200) return goesOn(run, runId);
  const waitsForSomebody = (run.body as { status: string }).status === NEEDS_SOMEBODY;
  return (waitsForSomebody && (await elicitDecision(waiting, runId))) || toToolResult({ isList: false }, run);
}

/** After the client's answer. A person who would not say is no verdict: the approval stays as it is. */
export async function resumeRun(waiting: Waiting, resumed: NonNullable<Asking['resumed']>): Promise<ToolResult> {
  const { answer, state } = resumed;
  const { runId, approvalId } = state;
  if (answer.kind === 'elicit' && answer.action !== 'accept') {
    const run = await readRun(waiting, runId);
    return run.status === 200 ? toToolResult({ isList: false }, run) : goesOn(run, runId);
  }
  const decision = answer.kind === 'elicit' ? parseVerdict(answer.content ?? {}) : null;
  if (!decision) return waitForRun(waiting, runId);
  const decided =
    decision.verdict === 'refuse'
      ? await refuseCalls(waiting, approvalId, decision.body)
      : await decide(waiting, approvalId, decision.verdict, decision.body);
  if (decided.status === 400)
    return (await elicitDecision(waiting, runId, formatAnswer(decided))) ?? goesOn(decided, runId);
  return decided.status === 200 ? waitForRun(waiting, runId) : goesOn(decided, runId);
}

const decide = ({ client, signal }: Waiting, approvalId: string, verdict: 'approve' | 'reject', body: Json) =>
  client({
    surface: 'worker',
    method: 'POST',
    signal,
    body,
    path: `/api/approvals/${encodeURIComponent(approvalId)}/${verdict}`,
  });

/** All of them, and the run goes on. */
async function refuseCalls(waiting: Waiting, approvalId: string, body: Json): Promise<SurfaceResponse> {
  const { client, signal } = waiting;
  const path = `/api/approvals/${encodeURIComponent(approvalId)}`;
  const found = await client({ surface: 'worker', method: 'GET', path, signal });
  if (found.status !== 200) return found;
  const calls = (found.body as PendingApproval).calls ?? [];
  return decide(waiting, approvalId, 'approve', {
    ...body,
    calls: calls.map(({ id }) => ({ id, decision: 'refuse' })),
  });
}

/** A refusal that leaves the run to itself. */
function goesOn(answer: SurfaceResponse, runId: string): CallToolResult {
  const { content } = toRefusal(answer);
  return { ...refusal(''), content: [...content, { type: 'text', text: `get_run tells the rest about ${runId}.` }] };
}

const readRun = ({ client, signal }: Waiting, runId: string): Promise<SurfaceResponse> =>
  client({ surface: 'worker', method: 'GET', path: `/api/runs/${encodeURIComponent(runId)}`, signal });

async function pollUntilEnd(waiting: Waiting, runId: string): Promise<SurfaceResponse> {
  const began = Date.now();
  for (;;) {
    const run = await readRun(waiting, runId);
    const { status } = run.body as { status: string };
    if (run.status !== 200 || ENDED.includes(status) || status === NEEDS_SOMEBODY) return run;
    await waiting.progress(Date.now() - began, WAIT_MS, `The run is ${status}.`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    if (Date.now() - began >= WAIT_MS || waiting.signal.aborted) return run;
  }
}

/** @returns undefined without a person to ask: this caller may not decide, or a client could not show the form */
async function elicitDecision(
  { client, signal, asking }: Waiting,
  runId: string,
  problem?: string,
): Promise<InputRequiredResult | undefined> {
  if (!asking) return undefined;
  const query = new URLSearchParams({ run_id: runId, status: 'pending', limit: '1' });
  const found = await client({ surface: 'worker', method: 'GET', path: `/api/approvals?${query}`, signal });
  const [approval] = found.status === 200 ? (found.body as PendingApproval[]) : [];
  const question = approval?.permissions.decide ? questionAbout(approval, problem) : null;
  if (!approval || !question) return undefined;
  return inputRequired({
    inputRequests: { [QUESTION]: question },
    requestState: asking.seal({ runId, approvalId: approval.id }),
  });
}
