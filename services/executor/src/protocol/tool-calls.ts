/**
 * Forwards a run's tool calls to the service that has the connections.
 *
 * The service records a call before it makes it, and a repeated request refers to the same call: the request is retried
 * until there is a result, for as long as the run lasts.
 */
import { setTimeout as delay } from 'node:timers/promises';
import {
  formatToolStepName,
  getCallLimits,
  type Job,
  jobTools,
  jsonObject,
  MODELS_CONNECTION,
  type ModelUsage,
  modelUsage,
  type ToolCall,
  type ToolReply,
} from '@gantry/events';
import { z } from 'zod';
import { replaceNulInJson } from '../masking/log-lines';
import { DEPTH_MAX, isDeeperThan } from '../untrusted/untrusted-json';

export type ToolCallRequest = Omit<ToolCall, 'runId' | 'attempt' | 'token'>;
export type ToolResult = Exclude<ToolReply, { calling: true }>;

/** Requests that the service that owns a run call one tool. @throws if there is no reply. */
export interface ToolCalls {
  call(job: Job, asked: ToolCallRequest): Promise<ToolReply>;
}

const RETRY_MS = { first: 100, most: 2_000 };

const toolMessage = z.object({
  ordinal: z.int(),
  connection: jobTools.shape.name,
  tool: z.string().min(1).max(200),
  arguments: jsonObject,
  timeoutMs: z.number(),
  stream: z.boolean().optional(),
});
/** Limit of concurrent calls. */
const CALLS_MAX = 8;
const groupMessage = z.object({ calls: z.array(z.unknown()).min(1).max(CALLS_MAX) });

/** Parses a group of calls. @throws for a group that only a forged frame can contain */
export function parseCallGroup(message: unknown): unknown[] {
  const { data } = groupMessage.safeParse(message);
  if (!data) throw new Error('an invalid group of tool calls');
  return data.calls;
}

const modelResponse = z.object({
  model: z.string(),
  usage: z.object({ input_tokens: z.number(), output_tokens: z.number(), usd: z.number().nullable() }),
});

/** Parses the usage in a model response; undefined if it has none. */
export function parseUsage(
  { connection }: Pick<ToolCallRequest, 'connection'>,
  response: ToolResult,
): ModelUsage | undefined {
  const { data } = modelResponse.safeParse(
    connection === MODELS_CONNECTION && 'result' in response ? response.result : undefined,
  );
  if (!data) return undefined;
  const { model, usage } = data;
  return modelUsage.safeParse({
    model,
    inputTokens: usage.input_tokens,
    outputTokens: usage.output_tokens,
    usd: usage.usd,
  }).data;
}

/** Parses a tool call. @throws for a call that only a forged frame can contain */
export function parseToolCall(message: unknown, job: Job): { request: ToolCallRequest } | { refused: string } {
  const { data } = toolMessage.safeParse(message);
  if (!data) throw new Error('an invalid tool call');
  const { connection, tool } = data;
  if (data.stream && connection !== MODELS_CONNECTION) throw new Error('only model calls can be streamed');
  if (formatToolStepName(connection, tool).length > 200) throw new Error('the name of a tool call is too long');
  if (!job.tools?.some(({ name }) => name === connection)) throw new Error('a tool call uses an undeclared connection');
  const call = formatToolStepName(connection, tool);
  const limits = getCallLimits(connection);
  const timeoutMs = Math.round(Math.min(Math.max(data.timeoutMs, 1), limits.timeoutMs));
  if (isDeeperThan(data.arguments, DEPTH_MAX)) {
    return { refused: `the arguments of ${call} are nested deeper than ${DEPTH_MAX} levels` };
  }
  const callArguments = replaceNulInJson(data.arguments) as Record<string, unknown>;
  const bytes = Buffer.byteLength(JSON.stringify(callArguments));
  if (bytes > limits.argumentsBytes) {
    return { refused: `the arguments of ${call} are ${bytes} bytes of JSON; the limit is ${limits.argumentsBytes}` };
  }
  return { request: { ...data, arguments: callArguments, timeoutMs } };
}

/** Repeats a request until it has a final reply, or the run is over. */
export async function requestUntilReply<Reply extends object>(
  request: () => Promise<Reply | { calling: true }>,
  { isOver, onRetry }: { isOver: () => boolean; onRetry: (err: unknown) => void },
): Promise<Reply | { refused: string }> {
  for (let pause = RETRY_MS.first; !isOver(); pause = Math.min(pause * 2, RETRY_MS.most)) {
    try {
      const reply = await request();
      if (!('calling' in reply)) return reply;
      pause = RETRY_MS.first;
    } catch (err) {
      if (pause === RETRY_MS.first) onRetry(err);
    }
    await delay(pause);
  }
  return { refused: 'the run is over' };
}
