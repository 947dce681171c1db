/**
 * Models for the code of runs: `context.model(...)`. The run engine records each call as a step, as it does for tools
 * (ADR 44). Asking once more costs money and does no other harm, so a call whose replica has died is made again.
 */

import { AppError } from '@gantry/errors';
import { DEFAULT_MODEL, type JobTools, MODELS, type ToolFailure } from '@gantry/events';
import { maskTexts, openTextStream, type Redactor } from '@gantry/masking';
import { transaction } from '@gantry/postgres';
import { type PreparedTool, type RequestedTool, type Run, RunEnded, type ToolOutcome } from '@gantry/run-engine';
import { createToolFailure, maskOutcome, toStorableText } from '../connection-tools/tool-result';
import { tokenBudgetsOfRun } from '../runs/token-budget';
import { parseToolChoice } from './answer-settings';
import { ModelFailed } from './call-failure';
import { ATTEMPTS, callModel, type ModelAnswer } from './call-model';
import { filesOfQuestion } from './files-of-question';
import { parseValue, repairing, schemaPrompt } from './json-answer';
import { budgetOfWorker } from './model-call-repository';
import type { ModelDeps } from './model-deps';
import { type AskedModel, askedModel, buildToolSet, toModelMessages } from './model-question';
import type { Models, OfferedModel } from './model-registry';
import { joinText } from './read-answer';
import { readToolCalls, type ToolCallOfAnswer } from './read-tool-calls';
import { listOfferedTools } from './served-tools';

/** Models that a job lists. Others can be requested by name. */
const NAMES_MAX = 50;

/** None where no model is offered: the code gets an error that says so. */
export async function modelsOfRun(models: Models, { workspaceId }: Pick<Run, 'workspaceId'>): Promise<JobTools[]> {
  const { list } = await models.recentFor(workspaceId);
  const names = list.flatMap(({ id, aliases }) => [...aliases, id]);
  return names.length ? [{ name: MODELS, tools: names.slice(0, NAMES_MAX) }] : [];
}

export async function prepareModel(
  deps: ModelDeps,
  run: Run,
  { tool: name, arguments: given, timeoutMs, stream = false }: RequestedTool,
): Promise<PreparedTool | { failed: ToolFailure }> {
  const { data: asked, error } = askedModel.safeParse(given);
  if (!asked) {
    const [first] = error.issues;
    return {
      failed: createToolFailure('invalid_arguments', `${first?.path.join('.') || 'the call'}: ${first?.message}`),
    };
  }
  try {
    const offered = await deps.models.forWorkspace(run.workspaceId);
    const isDefault = name === DEFAULT_MODEL && !offered.list.some(({ aliases }) => aliases.includes(name));
    const models = offered.resolve(isDefault ? undefined : name);
    return {
      isIdempotent: true,
      isReadOnly: true,
      call: (tell, ended) => answerQuestion(deps, run, { asked, models, timeoutMs, ended }, stream ? tell : null),
    };
  } catch (err) {
    if (err instanceof AppError) return { failed: createToolFailure('unknown_tool', err.detail) };
    throw err;
  }
}

interface Question {
  asked: AskedModel;
  models: OfferedModel[];
  timeoutMs: number;
  /** Aborted once no attempt of the run will read the answer. */
  ended: AbortSignal;
}

/** Takes more of what a model says. */
type Tell = (text: string) => void;

/** Never throws for anything that a provider does, or that a budget forbids. */
async function answerQuestion(deps: ModelDeps, run: Run, question: Question, tell: Tell | null): Promise<ToolOutcome> {
  const redactor = await deps.masking.redactorFor(await deps.secrets.valuesOf(run.workspaceId));
  const words = tell && openTextStream(redactor);
  const onText = (text: string) => words && tell(toStorableText(words.push(text)));
  const outcome = await requestAnswer(deps, run, question, { redactor, onText }).catch((err): ToolOutcome => {
    if (err instanceof ModelFailed) return toUnansweredOutcome(err);
    if (err instanceof AppError && err.kind === 'forbidden') return toFailedOutcome('budget_exceeded', err.detail);
    if (err instanceof RunEnded) return toFailedOutcome('unavailable', err.message);
    if ((err as Error).name !== 'TimeoutError') throw err;
    return toFailedOutcome('unavailable', `no answer within ${question.timeoutMs / 1_000} seconds`);
  });
  if (words) tell(toStorableText(words.end()));
  const { settle } = outcome;
  return { ...(await maskOutcome(outcome, redactor)), ...(settle && { settle }) };
}

/** Providers and models may have written of it: `presentable` cuts it, once it is masked. */
const toFailedOutcome = (code: ToolFailure['code'], message: string) => ({ failed: { code, message }, isFinal: false });

/** @param said until then */
const toUnansweredOutcome = ({ detail, code }: ModelFailed, said = '') =>
  code === 'model_filtered'
    ? toFailedOutcome('refused', `${detail}${said && `. Until then it said: ${said}`}`)
    : toFailedOutcome('unavailable', `${detail} (${code})`);

/**
 * The last answer is settled with the step that it is recorded in, so that one that is requested again is paid once.
 */
async function requestAnswer(
  deps: ModelDeps,
  run: Run,
  { asked, models, timeoutMs, ended }: Question,
  { redactor, onText }: { redactor: Redactor; onText: Tell },
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
  } = (await maskTexts(redactor, asked)) as AskedModel;
  const tools = await listOfferedTools(deps, run, named);
  if ('failed' in tools) return { failed: tools.failed, isFinal: false };
  const chosen = parseToolChoice(choiceName, tools);
  if ('failed' in chosen) return { failed: chosen.failed, isFinal: false };
  const files = await filesOfQuestion(deps, run, messages, redactor.text);
  if ('failed' in files) return { failed: files.failed, isFinal: false };
  const [budgets, worker] = await Promise.all([
    tokenBudgetsOfRun(deps.pool, run.id),
    budgetOfWorker(deps.pool, run.workspaceId, run.subjectId),
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
  const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), ended]);
  const usage = { input_tokens: 0, output_tokens: 0, usd: null as number | null };
  const turn = async (more: AskedModel['messages']): Promise<ModelAnswer> => {
    const answer = await callModel(deps, {
      models,
      spender,
      signal,
      onText,
      attempts: countAttempts(run),
      about: { conversationId: null, turnId: null },
      system: schema ? schemaPrompt(system, schema) : system,
      messages: toModelMessages([...messages, ...more], files.partOf),
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
  const toAnswerOutcome = (
    { settle, ...answer }: ModelAnswer,
    calls: ToolCallOfAnswer[],
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
  const first = await turn([]);
  const { settle } = first;
  if (first.failure) return { ...toUnansweredOutcome(first.failure, joinText(first.content)), settle };
  const calls = await readToolCalls(first, tools);
  if (!schema || calls.length) return toAnswerOutcome(first, calls);
  const read = parseValue(joinText(first.content), schema);
  if ('value' in read) return toAnswerOutcome(first, [], read.value);
  if (first.isCut)
    return { ...toFailedOutcome('invalid_output', 'the answer is longer than the call may give'), settle };
  await transaction(deps.pool, settle);
  const second = await turn(repairing(joinText(first.content), read.problems));
  if (second.failure)
    return { ...toUnansweredOutcome(second.failure, joinText(second.content)), settle: second.settle };
  const repaired = parseValue(joinText(second.content), schema);
  if ('value' in repaired) return toAnswerOutcome(second, [], repaired.value);
  const said = `${second.model}: the answer does not fit the schema, after one repair either: ${repaired.problems.join('; ')}`;
  return { ...toFailedOutcome('invalid_output', said), settle: second.settle };
}

/**
 * Bounds the attempts with a provider that is down, over all attempts of a run that is tried again up to five times.
 */
const PROVIDER_CALLS_MAX = 6;

/** Retries of the call and of the run do not multiply: all but the first attempt of a run ask once. */
function countAttempts({ tries, retriesLeft }: Run): number {
  return tries > 1 ? 1 : Math.max(1, Math.min(ATTEMPTS, PROVIDER_CALLS_MAX - retriesLeft));
}
