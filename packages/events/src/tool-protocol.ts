/** Tool calls of a run's code to the service that owns the run. See ADR 44. */
import { z } from 'zod';
import { jobTools, jsonObject } from './job-tools';
import { attemptIdentity, stepIdentity } from './run-protocol';

/** Maximum size of the arguments of a tool as JSON. */
export const TOOL_ARGUMENTS_BYTES_MAX = 64 * 1024;
/** Time that a tool may take to answer. */
export const TOOL_TIMEOUT_MS = { default: 30_000, most: 120_000 };
/** Reserved connection name: its tools are the operator's models, by name. No worker can declare it. */
export const MODELS_CONNECTION = 'gantry:models';
/** The tool of MODELS if the code names no model. */
export const DEFAULT_MODEL = 'default';
/** Maximum size of a model's request as JSON. */
export const MODEL_ARGUMENTS_BYTES_MAX = 128 * 1024;
/** For all attempts together. */
export const MODEL_TIMEOUT_MS = { default: 120_000, most: 300_000 };

/** Images and files of one model request: count, bytes each, and bytes in total. */
export const MODEL_FILES_MAX = 10;
export const MODEL_FILE_BYTES_MAX = 5 << 20;
export const MODEL_FILES_BYTES_MAX = 20 << 20;

const MODEL_IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
export const isModelImage = (mediaType: string): boolean => MODEL_IMAGES.includes(mediaType);
export const isModelText = (mediaType: string): boolean => /^text\/[\w.+-]{1,60}$/.test(mediaType);
export const isModelFile = (mediaType: string): boolean =>
  mediaType === 'application/pdf' || isModelImage(mediaType) || isModelText(mediaType);

/** Returns the limits of a call to a tool or a model. */
export const getCallLimits = (connection: string): { argumentsBytes: number; timeoutMs: number } =>
  connection === MODELS_CONNECTION
    ? { argumentsBytes: MODEL_ARGUMENTS_BYTES_MAX, timeoutMs: MODEL_TIMEOUT_MS.most }
    : { argumentsBytes: TOOL_ARGUMENTS_BYTES_MAX, timeoutMs: TOOL_TIMEOUT_MS.most };

/** A longer call is answered with `calling`, and requested again. */
export const TOOL_HOLD_MS = 10_000;

/**
 * A tool of a connection, called by the service and recorded as a step of kind `tool` with the name `connection.tool`.
 * Idempotent by ordinal and name within an attempt: a repeated request waits for the running call, or gets its result.
 */
export const toolCall = z.object({
  ...attemptIdentity,
  ordinal: stepIdentity.ordinal,
  connection: jobTools.shape.name,
  tool: z.string().min(1).max(200),
  arguments: jsonObject,
  timeoutMs: z.int().min(1).max(MODEL_TIMEOUT_MS.most),
  /** The model's text is sent while it is generated: see ToolTextChunk. */
  stream: z.boolean().optional(),
});
export type ToolCall = z.infer<typeof toolCall>;

/** Limit of one message. */
export const TOOL_TEXT_CHARS_MAX = 4_000;
/** The next part of a call's text, masked. Live only: the reply has all of it. */
export const toolTextChunk = z.object({
  token: z.string(),
  ordinal: stepIdentity.ordinal,
  /** Number of characters before it, in UTF-16. */
  from: z.int().min(0),
  text: z.string().max(TOOL_TEXT_CHARS_MAX),
});
export type ToolTextChunk = z.infer<typeof toolTextChunk>;

export const toolFailure = z.object({
  code: z.enum([
    'unknown_tool',
    'not_allowed',
    'invalid_arguments',
    'unavailable',
    /** Models only: the provider's content filter withheld the response. */
    'refused',
    'tool_error',
    'too_large',
    'budget_exceeded',
    'invalid_output',
    'outcome_unknown',
    /** Rehearsals only: the call may write, and the rehearsed run recorded no response to it. */
    'not_recorded',
  ]),
  message: z.string().max(2_000),
});
export type ToolFailure = z.infer<typeof toolFailure>;

/** `failed` is an error that the code can catch; `refused`: nothing was recorded; `calling`: request it again. */
export const toolReply = z.union([
  z.object({ result: z.unknown() }),
  z.object({ failed: toolFailure }),
  z.object({ refused: z.string() }),
  z.object({ calling: z.literal(true) }),
]);
export type ToolReply = z.infer<typeof toolReply>;

/** Formats the name of a tool call's step: at most 200 characters, or there is no such call. */
export const formatToolStepName = (connection: string, tool: string): string =>
  `${connection === MODELS_CONNECTION ? 'model' : connection}.${tool}`;
