/** Calls of tools in an answer, with their arguments as an object and with what does not fit the tool's schema. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isObject, listArgumentProblems } from '../connection-tools/check-arguments';
import type { ModelResponse } from './call-model';
import type { OfferedTool, ServedTool } from './model-call-request';

export interface ParsedToolCall {
  id: string;
  name: string;
  arguments: Record<string, unknown>;
  /** Which argument does not fit the schema, and why. Absent: none was found. */
  problems?: string[];
  serves?: ServedTool;
}

const NO_OBJECT = 'the arguments are not a JSON object';

/** Only those that were declared: a model also asks for what it has read of elsewhere. */
export async function readToolCalls(
  { content }: Pick<ModelResponse, 'content'>,
  offeredTools: OfferedTool[],
): Promise<ParsedToolCall[]> {
  const calls: ParsedToolCall[] = [];
  for (const part of content) {
    // Bounded: 128 calls of an answer (CALLS_MAX of the event meter) and 128 tools (OFFERED_MAX).
    const tool = part.type === 'tool-call' ? offeredTools.find(({ name }) => name === part.toolName) : undefined;
    if (part.type !== 'tool-call' || !tool) continue;
    const { toolCallId: id, toolName: name } = part;
    const given = parseArguments(part.input);
    const problems = given ? listArgumentProblems(tool.parameters ?? {}, given) : [NO_OBJECT];
    const call: ParsedToolCall = { id, name, arguments: given ?? {} };
    if (problems.length) call.problems = problems;
    if (tool.serves) call.serves = tool.serves;
    calls.push(call);
    // Each check may take some milliseconds, and an answer may have more than a hundred.
    await nextTurn();
  }
  return calls;
}

/** Some models write the object as a text, and the SDK hands on what it could not parse. Null: there is none. */
function parseArguments(input: unknown): Record<string, unknown> | null {
  if (isObject(input)) return input;
  if (input === undefined || input === null || input === '') return {};
  try {
    const parsed: unknown = JSON.parse(String(input));
    return isObject(parsed) ? parsed : null;
  } catch {
    return null;
  }
}
