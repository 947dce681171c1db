/** One request to a model, read as it comes. */
import { isDeeperThan } from '@gantry/http';
import { mapStrings } from '@gantry/masking';
import type { JSONValue, ModelMessage, ToolSet } from 'ai';
import { toStorableText } from '../connection-tools/tool-result';
import { ModelCallError, toModelFailure } from './call-failure';
import { checkUsage } from './check-usage';
import { buildReasoningOptions, type GenerationSettings, listIgnoredSettings } from './generation-settings';
import { createLanguageModel } from './language-model';
import { BYTES_PER_TOKEN, estimateFileTokens, estimateTokens, type Usage } from './model-cost';
import type { OfferedModel } from './model-registry';
import type { ModelProvider } from './model-settings';
import { addTimeLimit } from './time-limit';

export interface ModelRequest extends GenerationSettings {
  system: string;
  messages: ModelMessage[];
  tools: ToolSet;
  signal: AbortSignal;
  /** Fewer than its provider allows. */
  maxOutputTokens?: number;
  /** More of the text, in its order. */
  onText: (text: string) => void;
}

type Options = Record<string, Record<string, JSONValue>>;

/** As messages of the AI SDK have it, so that it can be sent back to the model that gave it. */
export type ResponsePart =
  | { type: 'text' | 'reasoning'; text: string; providerOptions?: Options }
  | { type: 'tool-call'; toolCallId: string; toolName: string; input: unknown; providerOptions?: Options };

/** Joins the texts of an answer; calls and other parts have none. */
export const joinText = (content: ResponsePart[]): string =>
  content.map((part) => (part.type === 'text' ? part.text : '')).join('');

export interface StreamedResponse {
  content: ResponsePart[];
  usage: Usage;
  /** The answer was longer than a call may give. */
  isCut: boolean;
  failure: ModelCallError | null;
  /** Settings of the request that the model does not support, in words. */
  ignored: string[];
}

/** The request's signal ended the answer; `cause` is its reason. */
export class ResponseStoppedError extends Error {
  constructor(
    cause: unknown,
    /** As the provider reported it, or an estimate of what came until then; null: nothing came. */
    readonly usage: Usage | null,
  ) {
    super('the response was stopped', { cause });
    this.name = 'ResponseStoppedError';
  }
}

const TIMEOUT_SECONDS = 60;
/** The time for a whole answer. */
const RESPONSE_MS_MAX = 5 * 60_000;
const RESPONSE_CHARS_MAX = 400_000;
const OUTPUT_TOKENS = 8_000;
/** That providers add for roles, and for telling a model of its tools. */
const PROTOCOL_TOKENS = 2_000;
const PARTS_MAX = 500;
/** As deep as requests may be. */
const DEPTH_MAX = 64;
const NAME_CHARS_MAX = 2_048;
const OPTIONS_CHARS_MAX = 512 * 1024;

export const computeMaxOutputTokens = (
  { provider }: OfferedModel,
  { maxOutputTokens: requestedMax = Number.POSITIVE_INFINITY }: Pick<ModelRequest, 'maxOutputTokens'>,
): number => Math.min(requestedMax, provider.max_output_tokens ?? OUTPUT_TOKENS);

/** Estimates the tokens of a request: texts by their length, images and files by what they are. */
export function estimateInputTokens({ system, messages, tools }: ModelRequest): number {
  const described = Object.entries(tools).map(([name, { description, inputSchema }]) => [
    name,
    description,
    inputSchema,
  ]);
  let files = 0;
  const text = JSON.stringify([system, messages, described], (_, value: unknown) => {
    if (!(value instanceof Uint8Array)) return value;
    files += estimateFileTokens(value);
    return '';
  });
  return estimateTokens(text) + files;
}

/** No token has less than a byte. */
const estimateMaxInputTokens = (request: ModelRequest): number =>
  BYTES_PER_TOKEN * estimateInputTokens(request) + PROTOCOL_TOKENS;

/** Never throws for a failure of the provider: what came until then is worth its money. @throws ResponseStoppedError */
export async function readModelResponse(model: OfferedModel, request: ModelRequest): Promise<StreamedResponse> {
  const { streamText } = await import('ai');
  // An unsupported setting is not worth a line on the console for each call.
  globalThis.AI_SDK_LOG_WARNINGS = false;
  const seconds = model.provider.timeout_seconds ?? TIMEOUT_SECONDS;
  const silence = new AbortController();
  const signal = addTimeLimit(RESPONSE_MS_MAX, request.signal, silence.signal);
  let timer = setTimeout(() => silence.abort(), seconds * 1_000);
  const resetIdleTimer = () => {
    clearTimeout(timer);
    timer = setTimeout(() => silence.abort(), seconds * 1_000);
  };
  const content: ResponsePart[] = [];
  const open = new Map<string, ResponsePart & { text: string }>();
  let ignored: string[] = [];
  let chars = 0;
  let told: Usage | null = null;
  let finish: string | undefined;
  let failure: unknown = null;
  // With its key, of which nothing that is told may hold any.
  let connected = model;
  try {
    connected = { ...model, provider: await model.connect() };
    const { fullStream } = streamText({
      model: await createLanguageModel(connected.provider, model.model, model.fetch),
      ...(request.system && { system: { role: 'system' as const, content: request.system, providerOptions: CACHED } }),
      messages: request.messages,
      tools: request.tools,
      maxOutputTokens: computeMaxOutputTokens(model, request),
      ...buildCallSettings(request, model.provider.kind),
      maxRetries: 0,
      abortSignal: signal,
      // Errors are parts of the stream; by default they would be written to the console as well.
      onError: () => {},
    });
    for await (const part of fullStream) {
      resetIdleTimer();
      const options = 'providerMetadata' in part && part.providerMetadata;
      const own = options ? { providerOptions: options as Options } : {};
      switch (part.type) {
        case 'text-start':
        case 'reasoning-start': {
          const begun = {
            type: part.type === 'text-start' ? ('text' as const) : ('reasoning' as const),
            text: '',
            ...own,
          };
          content.push(begun);
          open.set(part.id, begun);
          break;
        }
        case 'text-delta':
        case 'reasoning-delta': {
          const begun = open.get(part.id);
          if (begun) Object.assign(begun, { text: begun.text + part.text }, own);
          chars += part.text.length;
          if (part.type === 'text-delta' && part.text) request.onText(part.text);
          break;
        }
        case 'text-end':
        case 'reasoning-end': {
          const begun = open.get(part.id);
          if (begun) Object.assign(begun, own);
          break;
        }
        case 'tool-input-delta':
          chars += part.delta.length;
          break;
        case 'tool-call':
          content.push({
            type: 'tool-call',
            toolCallId: part.toolCallId,
            toolName: part.toolName,
            input: part.input,
            ...own,
          });
          break;
        case 'finish-step': {
          const { inputTokens, outputTokens, inputTokenDetails: input } = part.usage;
          const [cacheReadTokens, cacheWriteTokens] = [input.cacheReadTokens ?? 0, input.cacheWriteTokens ?? 0];
          told = checkUsage(
            { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens },
            { inputTokens: estimateMaxInputTokens(request), outputTokens: computeMaxOutputTokens(model, request) },
          );
          finish = part.finishReason === 'other' && part.rawFinishReason === undefined ? undefined : part.finishReason;
          break;
        }
        case 'start-step':
          ignored = [
            ...listUnsupportedSettings(request, model.provider.kind),
            ...listIgnoredSettings(request, part.warnings),
          ];
          break;
        case 'error':
          failure ??= part.error;
          break;
      }
      if (chars > RESPONSE_CHARS_MAX || content.length > PARTS_MAX) {
        failure ??= new ModelCallError('model_malformed', `${model.id}: the response is too long`, false);
        silence.abort();
        break;
      }
    }
  } catch (err) {
    failure ??= err;
  } finally {
    clearTimeout(timer);
  }
  if (request.signal.aborted) {
    const usage =
      told ??
      (chars > 0 ? estimateStoppedUsage(request, content, chars, computeMaxOutputTokens(model, request)) : null);
    throw new ResponseStoppedError(request.signal.reason, usage);
  }
  if (failure === null && signal.aborted) failure = new Error('the call took too long');
  if (failure === null && finish === undefined) failure = new Error('the stream ended before the response did');
  if (finish === 'content-filter') {
    failure ??= new ModelCallError(
      'model_filtered',
      `${model.id}: the provider’s content filter withheld the response`,
      false,
    );
  }
  const isSilent = silence.signal.aborted && !(failure instanceof ModelCallError);
  const parts = content.filter((part) => part.type === 'tool-call' || part.text !== '');
  const isStorable = parts.every(hasBounds);
  if (!isStorable)
    failure ??= new ModelCallError('model_malformed', `${model.id}: the response is not a valid model response`, false);
  const kept = isStorable ? (mapStrings(parts, toStorableText) as ResponsePart[]) : [];
  return {
    content: kept,
    usage: told ?? estimateUsage(request, kept, computeMaxOutputTokens(model, request), failure !== null),
    isCut: finish === 'length',
    ignored,
    failure: failure === null ? null : toModelFailure(failure, connected, isSilent ? seconds : null),
  };
}

function buildCallSettings({ temperature, toolChoice, reasoning }: GenerationSettings, kind: ModelProvider['kind']) {
  const providerOptions = reasoning && buildReasoningOptions(kind, reasoning);
  return {
    ...(temperature !== undefined && { temperature }),
    ...(toolChoice && { toolChoice }),
    ...(providerOptions && { providerOptions }),
  };
}

const listUnsupportedSettings = ({ reasoning }: GenerationSettings, kind: ModelProvider['kind']): string[] =>
  reasoning && !buildReasoningOptions(kind, reasoning)
    ? [`reasoning: ${reasoning} is not supported by this provider`]
    : [];

/** Anthropic and Bedrock cache what they are asked to; the others do by themselves. */
const CACHED = { anthropic: { cacheControl: { type: 'ephemeral' } }, bedrock: { cachePoint: { type: 'default' } } };

/** Whatever the protocol of its provider: it can be stored, and sent back. */
function hasBounds(part: ResponsePart): boolean {
  if (part.type === 'tool-call' && (part.toolName.length > NAME_CHARS_MAX || part.toolCallId.length > NAME_CHARS_MAX))
    return false;
  return !isDeeperThan(part, DEPTH_MAX) && JSON.stringify(part.providerOptions ?? {}).length <= OPTIONS_CHARS_MAX;
}

/** @param chars with arguments of calls that were not complete */
function estimateStoppedUsage(
  request: ModelRequest,
  content: ResponsePart[],
  chars: number,
  maxOutputTokens: number,
): Usage {
  const usage = estimateUsage(request, content, maxOutputTokens, false);
  const outputTokens = Math.min(Math.ceil(chars / BYTES_PER_TOKEN), maxOutputTokens);
  return { ...usage, outputTokens: Math.max(usage.outputTokens, outputTokens) };
}

/** A provider that said no word charges nothing. */
function estimateUsage(
  request: ModelRequest,
  content: ResponsePart[],
  maxOutputTokens: number,
  isFailed: boolean,
): Usage {
  const none = { cacheReadTokens: 0, cacheWriteTokens: 0, isEstimated: true };
  if (isFailed && content.length === 0) return { ...none, inputTokens: 0, outputTokens: 0 };
  const inputTokens = estimateInputTokens(request);
  return { ...none, inputTokens, outputTokens: Math.min(estimateTokens(JSON.stringify(content)), maxOutputTokens) };
}
