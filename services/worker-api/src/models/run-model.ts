/**
 * Models for the code of runs: `context.model(...)`. The run engine records each call as a step, as it does for tools
 * (ADR 44). Asking once more costs money and does no other harm, so a call whose replica has died is made again.
 */

import { AppError } from '@gantry/errors';
import { DEFAULT_MODEL, type JobTools, MODELS_CONNECTION, type ToolFailure } from '@gantry/events';
import { createMaskingStream, maskStrings, type Redactor } from '@gantry/masking';
import { transaction } from '@gantry/postgres';
import { type PreparedTool, type RequestedTool, type Run, RunEndedError, type ToolOutcome } from '@gantry/run-engine';
import { buildFailure, maskOutcome, toStorableText } from '../connection-tools/tool-result';
import { loadTokenBudgets } from '../runs/token-budget';
import { ModelCallError } from './call-failure';
import { ATTEMPTS, callModel, type ModelResponse } from './call-model';
import { parseToolChoice } from './generation-settings';
import { buildRepairMessages, buildSchemaPrompt, parseValue } from './json-output';
import { loadMessageFiles } from './message-files';
import { findWorkerBudget } from './model-call-repository';
import { buildToolSet, type ModelCallRequest, modelCallRequest, toModelMessages } from './model-call-request';
import type { ModelDeps } from './model-deps';
import type { Models, OfferedModel } from './model-registry';
import { joinText } from './read-model-response';
import { type ParsedToolCall, readToolCalls } from './read-tool-calls';
import { listOfferedTools } from './served-tools';
import { addTimeLimit } from './time-limit';

/** Models that a job lists. Others can be requested by name. */
const NAMES_MAX = 50;

/** None where no model is offered: the code gets an error that says so. */
export async function listRunModels(models: Models, { workspaceId }: Pick<Run, 'workspaceId'>): Promise<JobTools[]> {
  const { list } = await models.recentFor(workspaceId);
  const names = list.flatMap(({ id, aliases }) => [...aliases, id]);
  return names.length ? [{ name: MODELS_CONNECTION, tools: names.slice(0, NAMES_MAX) }] : [];
}

export async function prepareModel(
  deps: ModelDeps,
  run: Run,
  { tool: name, arguments: callArguments, timeoutMs, stream = false }: RequestedTool,
): Promise<PreparedTool | { failed: ToolFailure }> {
  const { data: request, error } = modelCallRequest.safeParse(callArguments);
  if (!request) {
    const [first] = error.issues;
    return buildFailure('invalid_arguments', `${first?.path.join('.') || 'the call'}: ${first?.message}`);
  }
  try {
    const offered = await deps.models.forWorkspace(run.workspaceId);
    const isDefault = name === DEFAULT_MODEL && !offered.list.some(({ aliases }) => aliases.includes(name));
    const models = offered.resolve(isDefault ? undefined : name);
    return {
      isIdempotent: true,
      isReadOnly: true,
      call: (emitText, ended) =>
        handleModelRequest(deps, run, { request, models, timeoutMs, ended }, stream ? emitText : null),
    };
  } catch (err) {
    if (err instanceof AppError) return buildFailure('unknown_tool', err.detail);
    throw err;
  }
}

interface ModelCallContext {
  request: ModelCallRequest;
  models: OfferedModel[];
  timeoutMs: number;
  /** Aborted once no attempt of the run will read the answer. */
  ended: AbortSignal;
}

/** Takes more of what a model says. */
type EmitText = (text: string) => void;

/** Never throws for anything that a provider does, or that a budget forbids. */
async function handleModelRequest(
  deps: ModelDeps,
  run: Run,
  context: ModelCallContext,
  emitText: EmitText | null,
): Promise<ToolOutcome> {
  const redactor = await deps.masking.redactorFor(await deps.secrets.valuesOf(run.workspaceId));
  const words = emitText && createMaskingStream(redactor);
  const onText = (text: string) => words && emitText(toStorableText(words.push(text)));
  const outcome = await requestModelResponse(deps, run, context, { redactor, onText }).catch((err): ToolOutcome => {
    if (err instanceof ModelCallError) return toErrorOutcome(err);
    if (err instanceof AppError && err.kind === 'forbidden') return toFailedOutcome('budget_exceeded', err.detail);
    if (err instanceof RunEndedError) return toFailedOutcome('unavailable', err.message);
    if ((err as Error).name !== 'TimeoutError') throw err;
    return toFailedOutcome('unavailable', `no response within ${context.timeoutMs / 1_000} seconds`);
  });
  if (words) emitText(toStorableText(words.end()));
  const { settle } = outcome;
  return { ...(await maskOutcome(outcome, redactor)), ...(settle && { settle }) };
}

/** Providers and models may have written of it: `maskAndTruncate` cuts it, once it is masked. */
const toFailedOutcome = (code: ToolFailure['code'], message: string) => ({ failed: { code, message }, isFinal: false });

/** @param text of the response until then */
const toErrorOutcome = ({ detail, code }: ModelCallError, text = '') =>
  code === 'model_filtered'
    ? toFailedOutcome('refused', `${detail}${text && `. Text received before that: ${text}`}`)
    : toFailedOutcome('unavailable', `${detail} (${code})`);

/**
 * The last answer is settled with the step that it is recorded in, so that one that is requested again is paid once.
 */
async function requestModelResponse(
  deps: ModelDeps,
  run: Run,
  { request, models, timeoutMs, ended }: ModelCallContext,
  { redactor, onText }: { redactor: Redactor; onText: EmitText },
): Promise<ToolOutcome> {
  const {
    system = '',
    messages,
    schema,
    tools: named = [],
    max_output_tokens: maxOutputTokens,
    temperature,
    reasoning,
    tool_choice: choiceName,
  } = (await maskStrings(redactor, request)) as ModelCallRequest;
  const tools = await listOfferedTools(deps, run, named);
  if ('failed' in tools) return { failed: tools.failed, isFinal: false };
  const chosen = parseToolChoice(choiceName, tools);
  if ('failed' in chosen) return { failed: chosen.failed, isFinal: false };
  const files = await loadMessageFiles(deps, run, messages, redactor.text);
  if ('failed' in files) return { failed: files.failed, isFinal: false };
  const [budgets, worker] = await Promise.all([
    loadTokenBudgets(deps.pool, run.id),
    findWorkerBudget(deps.pool, run.workspaceId, run.subjectId),
  ]);
  const spender = {
    workspaceId: run.workspaceId,
    userId: null,
    tokenId: null,
    budgets,
    runId: run.id,
    worker,
    runBudgetUsd: run.spec.modelBudgetUsd,
  };
  const signal = addTimeLimit(timeoutMs, ended);
  const usage = { input_tokens: 0, output_tokens: 0, usd: null as number | null };
  const runTurn = async (moreMessages: ModelCallRequest['messages']): Promise<ModelResponse> => {
    const answer = await callModel(deps, {
      models,
      spender,
      signal,
      onText,
      attempts: countAttempts(run),
      about: { conversationId: null, turnId: null },
      system: schema ? buildSchemaPrompt(system, schema) : system,
      messages: toModelMessages([...messages, ...moreMessages], files.partOf),
      tools: await buildToolSet(tools),
      ...(maxOutputTokens !== undefined && { maxOutputTokens }),
      temperature,
      reasoning,
      toolChoice: chosen.choice,
    });
    usage.input_tokens += answer.usage.inputTokens;
    usage.output_tokens += answer.usage.outputTokens;
    if (answer.usd !== null) usage.usd = (usage.usd ?? 0) + answer.usd;
    return answer;
  };
  const toResponseOutcome = (
    { settle, ...answer }: ModelResponse,
    calls: ParsedToolCall[],
    output?: unknown,
  ): ToolOutcome => ({
    result: {
      text: joinText(answer.content),
      ...(output !== undefined && { output }),
      tool_calls: calls,
      cut: answer.isCut,
      model: answer.model,
      usage,
      ...(answer.ignored.length > 0 && { ignored: answer.ignored }),
    },
    settle,
  });
  const first = await runTurn([]);
  const { settle } = first;
  if (first.failure) return { ...toErrorOutcome(first.failure, joinText(first.content)), settle };
  const calls = await readToolCalls(first, tools);
  if (!schema || calls.length) return toResponseOutcome(first, calls);
  const read = parseValue(joinText(first.content), schema);
  if ('value' in read) return toResponseOutcome(first, [], read.value);
  if (first.isCut)
    return { ...toFailedOutcome('invalid_output', 'the response is longer than the call allows'), settle };
  await transaction(deps.pool, settle);
  const second = await runTurn(buildRepairMessages(joinText(first.content), read.problems));
  if (second.failure) return { ...toErrorOutcome(second.failure, joinText(second.content)), settle: second.settle };
  const repaired = parseValue(joinText(second.content), schema);
  if ('value' in repaired) return toResponseOutcome(second, [], repaired.value);
  const text = `${second.model}: the response does not match the schema, even after one repair: ${repaired.problems.join('; ')}`;
  return { ...toFailedOutcome('invalid_output', text), settle: second.settle };
}

/**
 * Bounds the attempts with a provider that is down, over all attempts of a run that is tried again up to five times.
 */
const PROVIDER_CALLS_MAX = 6;

/** Retries of the call and of the run do not multiply: all but the first attempt of a run ask once. */
function countAttempts({ tries, retriesLeft }: Run): number {
  return tries > 1 ? 1 : Math.max(1, Math.min(ATTEMPTS, PROVIDER_CALLS_MAX - retriesLeft));
}
