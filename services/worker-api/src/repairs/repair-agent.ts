/** Runs the steps of one repair, on the replica that holds its lease. */

import { AppError } from '@gantry/errors';
import { addChangeHint, newId } from '@gantry/events';
import { maskStrings } from '@gantry/masking';
import { type Sql, transaction } from '@gantry/postgres';
import type { Run } from '@gantry/run-engine';
import type { PoolClient } from 'pg';
import { z } from 'zod';
import { buildCandidate, insertCandidateWithinLimit, listLastSuccessfulRuns } from '../candidates/candidate-service';
import { advanceCandidate } from '../candidates/rehearse-cases';
import { readTree } from '../file-trees/tree-pack';
import { callModel, storeOrSettle } from '../models/call-model';
import { delimitData } from '../models/delimit-data';
import { findWorkerBudget } from '../models/model-call-repository';
import { buildToolSet } from '../models/model-call-request';
import { joinText, type ResponsePart } from '../models/read-model-response';
import { requireNotArchived } from '../workers/edit-worker';
import { getCurrentVersion, type Version } from '../workers/version-repository';
import { rejectManifests } from '../workers/worker-input';
import { findWorkerByUid, type WorkerWithTriggers } from '../workers/worker-repository';
import { continueOrEndRepair, endRepair } from './end-repair';
import type { Message, Repair, ToolResult } from './repair';
import type { RepairDeps } from './repair-deps';
import { describeRun, SYSTEM_PROMPT, toModelMessages } from './repair-prompt';
import { findRepair, insertMessage, listMessages, renewRepairLease, updateRepair } from './repair-repository';
import {
  callReadTool,
  formatProblems,
  isReadTool,
  PROPOSE_TOOL,
  type Proposal,
  proposalSchema,
  TOOLS,
  type ToolContext,
} from './repair-tools';

/** Limits the responses of the model in one repair. */
const RESPONSES_MAX = 12;
/** Limits the tool calls in one response; a model in a loop requests hundreds. */
const CALLS_MAX = 20;
/** Limits the results of these calls together; beyond it no tool reads more. */
const RESULTS_CHARS_MAX = 100_000;
/** Applies where the operator has set prices. */
const BUDGET_USD = 0.5;
const SUCCESSFUL_RUNS = 5;
const MESSAGE_CHARS_MAX = 2_000;

export interface RepairLease {
  repairId: string;
  replica: string;
  signal: AbortSignal;
}

type ToolCall = Extract<ResponsePart, { type: 'tool-call' }>;

/** Works until the repair awaits a rehearsal or an approver, or ends. @throws ModelCallError, AppError that ends it */
export async function runRepair(deps: RepairDeps, lease: RepairLease): Promise<void> {
  const { repairId, replica, signal } = lease;
  for (;;) {
    signal.throwIfAborted();
    const repair = await findRepair(deps.pool, repairId);
    if (repair?.status !== 'working') return;
    const messages = await listMessages(deps.pool, repairId);
    const responseCount = messages.filter(({ role }) => role === 'assistant').length;
    const last = messages.at(-1);
    if (repair.isReportDue) {
      const isOver = await continueOrEndRepair(deps, repair, { replica, canRetry: responseCount < RESPONSES_MAX });
      if (isOver) return;
    } else if (!last) {
      const text = await describeRun(await loadSources(deps, repair), repair.instructions);
      await updateLeasedRepair(deps, lease, (tx) => insertMessage(tx, repairId, { role: 'user', content: { text } }));
    } else if (last.role !== 'assistant') {
      if (responseCount >= RESPONSES_MAX) {
        return endRepair(deps, repair, {
          replica,
          error: `the model responded ${RESPONSES_MAX} times without finishing`,
        });
      }
      await requestResponse(deps, repair, lease, messages);
    } else {
      const calls = last.content.filter((part): part is ToolCall => part.type === 'tool-call');
      if (calls.length === 0)
        return endRepair(deps, repair, {
          replica,
          error: `the model proposed no change: ${toExplanation(last.content)}`,
        });
      if (await executeCalls(deps, repair, lease, calls)) return;
    }
  }
}

/** Writes a change of a repair under its lease. @throws AbortError if the lease was lost */
async function updateLeasedRepair(
  deps: RepairDeps,
  { repairId, replica }: RepairLease,
  change: (tx: PoolClient) => Promise<unknown>,
): Promise<void> {
  await transaction(deps.pool, async (tx) => {
    if (!(await renewRepairLease(tx, repairId, replica)))
      throw new DOMException('the lease on the repair was lost', 'AbortError');
    await change(tx);
    const repair = await findRepair(tx, repairId);
    if (repair) addChangeHint(tx, repair.workspaceId, 'runs', repair.runId);
  });
}

interface RepairSources extends ToolContext {
  worker: WorkerWithTriggers;
  base: Version;
}

/** @throws AppError if the worker or the run was deleted */
async function loadSources(deps: RepairDeps, { workspaceId, workerUid, runId }: Repair): Promise<RepairSources> {
  const worker = await findWorkerByUid(deps.prisma, workspaceId, workerUid);
  if (!worker) throw new AppError('not_found', 'not_found', 'the worker was deleted');
  requireNotArchived(worker);
  const [run, base, secrets] = await Promise.all([
    deps.engine.get(workspaceId, runId),
    getCurrentVersion(deps.prisma, worker),
    deps.secrets.valuesOf(workspaceId),
  ]);
  const tree = await readTree(deps.objects, base.code);
  const redactor = await deps.masking.redactorFor(secrets);
  return { deps, run, worker, base, tree, definition: base.definition, redactor, masked: redactor.text };
}

async function requestResponse(
  deps: RepairDeps,
  repair: Repair,
  lease: RepairLease,
  messages: Message[],
): Promise<void> {
  const { id, workspaceId, workerUid, createdBy, tokenId, askedModel } = repair;
  const redactor = await deps.masking.redactorFor(await deps.secrets.valuesOf(workspaceId));
  const tools = Object.entries(TOOLS).map(([name, { description, schema }]) => ({
    name,
    description,
    parameters: z.toJSONSchema(schema, { io: 'input' }) as Record<string, unknown>,
  }));
  const models = await deps.models.forWorkspace(workspaceId);
  const answer = await callModel(deps, {
    models: models.resolve(askedModel || undefined),
    spender: {
      workspaceId,
      tokenId,
      userId: createdBy === tokenId ? null : createdBy,
      budgets: null,
      worker: await findWorkerBudget(deps.pool, workspaceId, workerUid),
      turnBudgetUsd: BUDGET_USD,
    },
    about: { conversationId: null, turnId: id },
    system: SYSTEM_PROMPT,
    messages: (await maskStrings(redactor, toModelMessages(messages))) as ReturnType<typeof toModelMessages>,
    tools: await buildToolSet(tools),
    signal: lease.signal,
    onText: () => {},
  });
  await storeOrSettle(deps.pool, answer, () =>
    updateLeasedRepair(deps, lease, async (tx) => {
      await answer.settle(tx);
      await updateRepair(tx, id, { model: answer.model });
      // Only the cost of an interrupted response is stored.
      if (!answer.failure) await insertMessage(tx, id, { role: 'assistant', content: answer.content });
    }),
  );
  if (answer.failure) throw answer.failure;
}

const toExplanation = (content: ResponsePart[]): string =>
  joinText(content).trim().slice(0, MESSAGE_CHARS_MAX) || 'no explanation was given';

/** @returns whether a candidate is rehearsed now; its report answers these calls */
async function executeCalls(deps: RepairDeps, repair: Repair, lease: RepairLease, calls: ToolCall[]): Promise<boolean> {
  const sources = await loadSources(deps, repair);
  const results: ToolResult[] = [];
  let proposed: Extract<PreparedProposal, { candidateId: string }> | undefined;
  for (const [index, call] of calls.entries()) {
    lease.signal.throwIfAborted();
    const { toolCallId: modelCallId, toolName: name, input } = call;
    const addResult = (text: string) => results.push({ modelCallId, name, text });
    const chars = results.reduce((sum, { text }) => sum + text.length, 0);
    if (index >= CALLS_MAX) addResult(`This call was not made: a response can make at most ${CALLS_MAX} calls.`);
    else if (chars > RESULTS_CHARS_MAX) addResult('Too much was read at once; read less in each response.');
    else if (isReadTool(name)) addResult(delimitData(newId('call_'), await callReadTool(sources, name, input)));
    else if (name !== PROPOSE_TOOL) addResult('There is no such tool.');
    else if (proposed) addResult('Another proposal from this response is being rehearsed; propose one at a time.');
    else {
      const prepared = await prepareProposal(sources, repair, input);
      if ('problem' in prepared) addResult(prepared.problem);
      else {
        proposed = prepared;
        addResult(REHEARSAL_STARTED);
      }
    }
  }
  const { id } = repair;
  await updateLeasedRepair(deps, lease, async (tx) => {
    await insertMessage(tx, id, { role: 'tool', content: results });
    await proposed?.insert(tx);
  });
  if (proposed) await advanceCandidate(deps, proposed.candidateId);
  return proposed !== undefined;
}

/** Tells the model that the report follows in a separate message. */
const REHEARSAL_STARTED = 'The proposal is being rehearsed.';

type PreparedProposal = { problem: string } | { candidateId: string; insert: (tx: Sql) => Promise<void> };

/** Validates a proposal like a saved version; the model gets the problems. */
async function prepareProposal(sources: RepairSources, repair: Repair, input: unknown): Promise<PreparedProposal> {
  const { success, data, error } = proposalSchema.safeParse(input);
  if (!success) return { problem: `The proposal is invalid: ${formatProblems(error)}` };
  const { deps, worker, base, run } = sources;
  try {
    rejectManifests(data.files);
    const candidate = await buildCandidate(deps, worker, base, {
      change: { definition: data.definition ?? {}, files: toFileChanges(data) },
      origin: {
        needsApproval: false,
        message: `Repair: ${data.explanation}`,
        repairId: repair.id,
        createdBy: repair.createdBy,
        createdByLabel: repair.createdByLabel,
      },
    });
    const runs: Run[] = [run, ...(await listLastSuccessfulRuns(deps, worker, SUCCESSFUL_RUNS, [run]))];
    return {
      candidateId: candidate.id,
      insert: async (tx) => {
        await insertCandidateWithinLimit(tx, candidate, runs);
        const change = { candidateId: candidate.id, explanation: data.explanation, isReportDue: true };
        await updateRepair(tx, repair.id, { ...change, status: 'rehearsing' });
      },
    };
  } catch (err) {
    if (err instanceof AppError && err.status < 500) return { problem: `The proposal can't be saved: ${err.detail}` };
    throw err;
  }
}

const toFileChanges = ({ files }: Proposal) =>
  files.map(({ path, content, delete: deletes }) => ({
    path,
    ...(content !== undefined && { content }),
    ...(deletes && { delete: true }),
  }));
