/** Calls of tools, from a run's code to the service that owns the run. See ADR 44. */
import { z } from 'zod';
import { jobTools, jsonObject } from './job-tools';
import { attemptIdentity, stepIdentity } from './run-protocol';

/** Maximum size of the arguments of a tool as JSON. */
export const TOOL_ARGUMENTS_BYTES_MAX = 64 * 1024;
/** How long a tool may take to answer. */
export const TOOL_TIMEOUT_MS = { default: 30_000, most: 120_000 };
/** Stands where a connection does: its tools are the models of the operator, by name. No worker can declare such a connection. */
export const MODELS = 'gantry:models';
/** The tool of MODELS where the code names no model. */
export const DEFAULT_MODEL = 'default';
/** Maximum size of what a model is asked, as JSON. */
export const MODEL_ARGUMENTS_BYTES_MAX = 128 * 1024;
/** All attempts to get an answer together. */
export const MODEL_TIMEOUT_MS = { default: 120_000, most: 300_000 };

/** What bounds a call. */
export const callLimitsOf = (connection: string): { argumentsBytes: number; timeoutMs: number } =>
  connection === MODELS
    ? { argumentsBytes: MODEL_ARGUMENTS_BYTES_MAX, timeoutMs: MODEL_TIMEOUT_MS.most }
    : { argumentsBytes: TOOL_ARGUMENTS_BYTES_MAX, timeoutMs: TOOL_TIMEOUT_MS.most };

/** A call that takes longer is answered with `calling`, and asked for again. */
export const TOOL_HOLD_MS = 10_000;

/**
 * A tool of a connection, called by the service and recorded as a step of kind `tool` with the name `connection.tool`. Idempotent by
 * ordinal and name within an attempt: asked again, the service waits for the call that goes on, or answers with what came of it.
 */
export const toolCall = z.object({
  ...attemptIdentity,
  ordinal: stepIdentity.ordinal,
  connection: jobTools.shape.name,
  tool: z.string().min(1).max(200),
  arguments: jsonObject,
  timeoutMs: z.int().min(1).max(MODEL_TIMEOUT_MS.most),
});
export type ToolCall = z.infer<typeof toolCall>;

export const toolFailureCodes = [
  'unknown_tool',
  'not_allowed',
  'invalid_arguments',
  'unavailable',
  'tool_error',
  'too_large',
  'budget_exceeded',
  'invalid_output',
  'outcome_unknown',
] as const;
export const toolFailure = z.object({ code: z.enum(toolFailureCodes), message: z.string().max(2_000) });
export type ToolFailure = z.infer<typeof toolFailure>;

/** `failed` is an error that the code can catch; `refused`: nothing was recorded; `calling`: to be asked for again. */
export const toolReply = z.union([
  z.object({ result: z.unknown() }),
  z.object({ failed: toolFailure }),
  z.object({ refused: z.string() }),
  z.object({ calling: z.literal(true) }),
]);
export type ToolReply = z.infer<typeof toolReply>;

/** The name of a tool call's step: at most 200 characters, or there is no such call. */
export const toolStepName = (connection: string, tool: string): string =>
  `${connection === MODELS ? 'model' : connection}.${tool}`;
