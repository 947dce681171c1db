/** One call of a tool: its arguments become a request, and the answer of that a result. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import { type Json, type OperationShape, SHOWN_ONCE } from './operation-schemas';
import { AnswerTooLarge, type SurfaceAnswer, type SurfaceClient } from './surface-client';
import type { Tool } from './tools';

export interface ToolCall {
  tool: Tool;
  shapeOf: (operationId: string) => OperationShape;
  given: Json;
  client: SurfaceClient;
  signal: AbortSignal;
  /** Between 0 and `total`; heard by clients that asked for it. */
  progress: (done: number, total: number, message: string) => Promise<void>;
}

/** @returns what the operation answered; a refusal as an error that says the API's words */
export async function callTool(call: ToolCall): Promise<CallToolResult> {
  const { tool, given, client, signal } = call;
  const { operationId, sent } = chosen(tool, given);
  if (!operationId) return refusal(`${tool.choice?.argument} must be one of ${choices(tool).join(', ')}`);
  const shape = call.shapeOf(operationId);
  const unknown = Object.keys(sent).filter((name) => !shape.arguments.has(name));
  if (unknown.length > 0) return refusal(`there is no argument ${unknown.join(', ')}`);
  const path = pathOf(shape, sent);
  if (!path) return refusal(`${missing(shape, sent).join(', ')}: is required`);
  try {
    const body = bodyOf(shape, { ...sent, ...tool.fixed });
    const answer = await client({ surface: tool.surface, method: shape.method, path, body, signal });
    if (answer.status >= 300) return refused(answer);
    if (tool.waits) return resultOf(shape, await waited(call, answer));
    return tool.answersText ? textResult(String(answer.body)) : resultOf(shape, answer);
  } catch (error) {
    if (error instanceof AnswerTooLarge) return refusal(`${error.message} Ask for less, such as with a smaller limit.`);
    throw error;
  }
}

const choices = (tool: Tool): string[] => Object.keys(tool.choice?.operations ?? {});

function chosen(tool: Tool, given: Json): { operationId: string | undefined; sent: Json } {
  if (!tool.choice) return { operationId: tool.operationId, sent: given };
  const { [tool.choice.argument]: verdict, ...sent } = given;
  return { operationId: new Map(Object.entries(tool.choice.operations)).get(String(verdict)), sent };
}

const missing = (shape: OperationShape, sent: Json): string[] =>
  [...shape.arguments].flatMap(([name, place]) => (place === 'path' && sent[name] === undefined ? [name] : []));

/** @returns undefined where a part of the path is missing */
function pathOf(shape: OperationShape, sent: Json): string | undefined {
  if (missing(shape, sent).length > 0) return undefined;
  const query = new URLSearchParams();
  let path = shape.path;
  for (const [name, place] of shape.arguments) {
    const value = sent[name];
    if (value === undefined) continue;
    if (place === 'path') path = path.replace(`{${name}}`, encodeURIComponent(String(value)));
    if (place === 'query') query.set(name, typeof value === 'object' ? JSON.stringify(value) : String(value));
  }
  return query.size > 0 ? `${path}?${query}` : path;
}

function bodyOf(shape: OperationShape, sent: Json): Json | undefined {
  const named = [...shape.arguments].filter(([, place]) => place === 'body').map(([name]) => name);
  if (shape.method === 'GET' || shape.method === 'DELETE') return undefined;
  return Object.fromEntries(named.flatMap((name) => (sent[name] === undefined ? [] : [[name, sent[name]]])));
}

const WAIT_MS = 50_000;
const LOOK_EVERY_MS = 1_000;
/** A person has to act before it goes on. */
const NEEDS_SOMEBODY = 'pending_approval';
const ENDED = ['completed', 'failed', 'cancelled', 'timed_out', 'rejected'];

/** @returns the run that was started, once it has ended or the time is over */
async function waited({ client, signal, progress }: ToolCall, started: SurfaceAnswer): Promise<SurfaceAnswer> {
  const { run_id: runId } = started.body as { run_id: string };
  const began = Date.now();
  let last = started;
  do {
    last = await client({ surface: 'worker', method: 'GET', path: `/api/runs/${encodeURIComponent(runId)}`, signal });
    const { status } = last.body as { status: string };
    if (last.status !== 200 || ENDED.includes(status) || status === NEEDS_SOMEBODY) return last;
    await progress(Date.now() - began, WAIT_MS, `The run is ${status}.`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  } while (Date.now() - began < WAIT_MS && !signal.aborted);
  return last;
}

function resultOf(shape: OperationShape, { body, headers }: SurfaceAnswer): CallToolResult {
  const total = headers.get('x-total-count');
  const structured = shape.isList
    ? { items: body, ...(total !== null && { total: Number(total) }) }
    : typeof body === 'object' && body !== null
      ? body
      : {};
  const kept = withoutShownOnce(structured) as Json;
  return { content: [{ type: 'text', text: JSON.stringify(kept) }], structuredContent: kept };
}

/** Values that are shown once are for people: an agent's transcript is no place for them. */
function withoutShownOnce(value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => !SHOWN_ONCE.includes(name)));
}

const textResult = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] });

export const refusal = (text: string): CallToolResult => ({ ...textResult(text), isError: true });

/** In the words that the API has for people, with every place that was wrong. */
function refused({ status, body }: SurfaceAnswer): CallToolResult {
  const { detail, error, errors } = (typeof body === 'object' && body ? body : {}) as Record<string, unknown>;
  const said = detail ?? error ?? (body || 'refused');
  return refusal(`${status}: ${said}${errors ? ` ${JSON.stringify(errors)}` : ''}`);
}
