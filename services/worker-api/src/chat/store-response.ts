import { newId } from '@gantry/events';
import type { Sql } from '@gantry/postgres';
import { formatNameSuggestions } from '../connection-tools/nearest-names';
import type { OfferedTool } from '../mcp/toolbox';
import type { ModelResponse } from '../models/call-model';
import type { ResponsePart } from '../models/read-model-response';
import type { ChatEvent } from './event-repository';
import { type CallPart, insertCallPart, insertModelPart } from './turn-repository';

type RequestedCall = Extract<ResponsePart, { type: 'tool-call' }>;
type NewCall = Pick<CallPart, 'turnId' | 'callId' | 'content' | 'status' | 'result'>;

/** More at once are refused: a model in a loop asks for hundreds. */
const CALLS_MAX = 20;

/**
 * Stores what a model said and which tools it asks for: a call waits for its person where the tool asks first, and is
 * refused where the tool was not offered. Of an answer that broke off only the words count.
 * @returns what streams tell of it
 */
export async function storeResponse(
  tx: Sql,
  turnId: string,
  { content, failure }: Pick<ModelResponse, 'content' | 'failure'>,
  tools: Map<string, OfferedTool>,
): Promise<ChatEvent[]> {
  const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('');
  await insertModelPart(tx, { turnId, content: { text, isPartial: failure !== null } });
  if (failure) return [];
  const requestedCalls = content.filter((part): part is RequestedCall => part.type === 'tool-call');
  const calls = requestedCalls.map((one, index) => buildCall(turnId, one, tools, index >= CALLS_MAX));
  for (const call of calls) await insertCallPart(tx, call);
  return calls.flatMap(buildCallEvents);
}

function buildCall(
  turnId: string,
  requestedCall: RequestedCall,
  tools: Map<string, OfferedTool>,
  isTooMany: boolean,
): NewCall {
  const { toolCallId: modelCallId, toolName: name, input, providerOptions } = requestedCall;
  const tool = tools.get(name);
  const isObject = typeof input === 'object' && input !== null && !Array.isArray(input);
  const content = {
    modelCallId,
    name,
    title: tool?.title ?? name,
    workerId: tool?.workerId ?? null,
    arguments: isObject ? (input as Record<string, unknown>) : {},
    ...(providerOptions && { providerOptions }),
  };
  const buildRefusedCall = (result: string): NewCall => ({
    turnId,
    callId: newId('call_'),
    content,
    status: 'failed',
    result,
  });
  if (isTooMany) return buildRefusedCall(`the response contains more than ${CALLS_MAX} calls`);
  if (!tool)
    return buildRefusedCall(`there is no tool "${name.slice(0, 64)}"${formatNameSuggestions(name, [...tools.keys()])}`);
  if (!isObject) return buildRefusedCall('the arguments are not a JSON object');
  const status = tool.asksFirst(content.arguments) ? 'pending' : 'ready';
  return { turnId, callId: newId('call_'), content, status, result: null };
}

function buildCallEvents({ callId, content, status, result }: NewCall): ChatEvent[] {
  const { name, title, arguments: given } = content;
  const data = { call_id: callId, name, title, arguments: given, status };
  return [
    { type: 'tool_call', data },
    ...(status === 'pending' ? [{ type: 'approval' as const, data }] : []),
    ...(status === 'failed' ? [buildResultEvent({ callId, status, result, links: [] })] : []),
  ];
}

export const buildResultEvent = ({
  callId,
  status,
  result,
  links,
}: Pick<CallPart, 'callId' | 'status' | 'result' | 'links'>): ChatEvent => ({
  type: 'tool_result',
  data: { call_id: callId, status, result, links },
});
