import { ResponseTooLargeError } from '@gantry/http';
import type { Json, OperationShape } from './operation-schemas';
import type { Tool } from './tool';
import { buildErrorResult, buildFileResult, toErrorResult, toToolResult } from './tool-result';
import { resumeElicitation, type ToolResult, type WaitContext, waitForRun } from './wait-for-run';

export interface ToolCall extends WaitContext {
  tool: Tool;
  shapeOf: (operationId: string) => OperationShape;
  toolArguments: Json;
}

/** @returns what the operation answered; a refusal as an error that says the API's words */
export async function callTool(call: ToolCall): Promise<ToolResult> {
  try {
    // The run was started by the call that asked.
    if (call.tool.waits && call.asking?.resumed) return await resumeElicitation(call, call.asking.resumed);
    return await callOperation(call);
  } catch (error) {
    if (error instanceof ResponseTooLargeError)
      return buildErrorResult(`${error.message} Request less data, for example with a smaller limit.`);
    throw error;
  }
}

async function callOperation(call: ToolCall): Promise<ToolResult> {
  const { tool, toolArguments, client, signal } = call;
  const { operationId, operationArguments } = resolveOperation(tool, toolArguments);
  if (!operationId) return buildErrorResult(`${tool.choice?.argument} must be one of ${listChoices(tool).join(', ')}`);
  const shape = call.shapeOf(operationId);
  const hidden = [...(tool.without ?? []), ...Object.keys(tool.fixed ?? {})];
  // Bounded: arguments that our own list of tools hides, a few for each tool.
  const unknown = Object.keys(operationArguments).filter((name) => !shape.arguments.has(name) || hidden.includes(name));
  if (unknown.length > 0) return buildErrorResult(`unknown argument: ${unknown.join(', ')}`);
  const path = buildPath(shape, operationArguments);
  if (path === null) return buildErrorResult('invalid name in an argument: "." and ".." are not allowed');
  if (!path) return buildErrorResult(`${listMissingPathParams(shape, operationArguments).join(', ')}: is required`);
  const body = buildBody(shape, { ...operationArguments, ...tool.fixed });
  const answer = await client({ surface: tool.surface, method: shape.method, path, body, signal });
  if (answer.status >= 300) return toErrorResult(answer);
  if (tool.waits) return waitForRun(call, (answer.body as { run_id: string }).run_id);
  return tool.answersText ? buildFileResult(String(answer.body)) : toToolResult(shape, answer);
}

const listChoices = (tool: Tool): string[] => Object.keys(tool.choice?.operations ?? {});

function resolveOperation(
  tool: Tool,
  toolArguments: Json,
): { operationId: string | undefined; operationArguments: Json } {
  if (!tool.choice) return { operationId: tool.operationId, operationArguments: toolArguments };
  const { [tool.choice.argument]: verdict, ...operationArguments } = toolArguments;
  return { operationId: new Map(Object.entries(tool.choice.operations)).get(String(verdict)), operationArguments };
}

/** Segments that URLs resolve, in spite of encoding. */
const DOT_SEGMENTS: ReadonlySet<string> = new Set(['.', '..']);

const listMissingPathParams = (shape: OperationShape, operationArguments: Json): string[] =>
  [...shape.arguments].flatMap(([name, place]) =>
    place === 'path' && operationArguments[name] === undefined ? [name] : [],
  );

/** @returns undefined where a part of the path is missing; null where one would lead to another operation */
function buildPath(shape: OperationShape, operationArguments: Json): string | undefined | null {
  if (listMissingPathParams(shape, operationArguments).length > 0) return undefined;
  const query = new URLSearchParams();
  let path = shape.path;
  for (const [name, place] of shape.arguments) {
    const value = operationArguments[name];
    if (value === undefined) continue;
    if (place === 'path' && DOT_SEGMENTS.has(String(value))) return null;
    if (place === 'path') path = path.replace(`{${name}}`, encodeURIComponent(String(value)));
    if (place === 'query') query.set(name, typeof value === 'object' ? JSON.stringify(value) : String(value));
  }
  return query.size > 0 ? `${path}?${query}` : path;
}

function buildBody(shape: OperationShape, operationArguments: Json): Json | undefined {
  const named = [...shape.arguments].filter(([, place]) => place === 'body').map(([name]) => name);
  if (shape.method === 'GET' || shape.method === 'DELETE') return undefined;
  return Object.fromEntries(
    named.flatMap((name) => (operationArguments[name] === undefined ? [] : [[name, operationArguments[name]]])),
  );
}
