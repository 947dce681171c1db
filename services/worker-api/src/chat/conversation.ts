/** Maps conversations to their API representation. */
import { toApiFields } from '@gantry/http';
import type { ConversationRow } from './conversation-repository';
import { type CallPart, groupByTurn, type ModelPart, type Part, type Turn } from './turn-repository';

export const conversationSummaryToApi = (conversation: ConversationRow) =>
  toApiFields(conversation, 'id', 'title', 'status', 'createdAt', 'updatedAt');

export function conversationToApi(row: ConversationRow, turns: Turn[], parts: Part[]) {
  const partsByTurn = groupByTurn(parts);
  return {
    ...conversationSummaryToApi(row),
    last_event_id: row.shownEvent,
    turns: turns.map((turn) => turnToApi(turn, partsByTurn.get(turn.id) ?? [])),
  };
}

const turnToApi = (turn: Turn, parts: Part[]) => ({
  ...toApiFields(turn, 'id', 'message', 'status', 'createdAt', 'endedAt'),
  error: toTurnError(turn),
  parts: parts.flatMap(partToApi),
});

type ApiPart = ReturnType<typeof callToApi> | ReturnType<typeof textToApi>;

/** Omits model responses without text, which only called tools. */
function partToApi(part: Part): ApiPart[] {
  if (part.kind === 'call') return [callToApi(part)];
  return part.content.text ? [textToApi(part)] : [];
}

const textToApi = ({ content: { text, isPartial } }: ModelPart) => ({
  type: 'text' as const,
  text,
  partial: isPartial,
});

const toTurnError = ({ errorCode: code, errorDetail: detail }: Turn) => (code === null ? null : { code, detail });

const callToApi = (call: CallPart) => ({
  type: 'tool_call' as const,
  ...toApiFields(call.content, 'name', 'title', 'arguments'),
  ...toApiFields(call, 'callId', 'status', 'result'),
  links: call.links ?? [],
});

/** Formats a turn for clients without a stream. */
export const turnResponseToApi = (turn: Turn, parts: Part[]) => ({
  conversation_id: turn.conversationId,
  turn_id: turn.id,
  status: turn.status,
  error: toTurnError(turn),
  text: parts.flatMap((part) => (part.kind === 'model' && part.content.text ? [part.content.text] : [])).join('\n\n'),
  approvals: parts.flatMap((part) => (part.kind === 'call' && part.status === 'pending' ? [callToApi(part)] : [])),
  links: [...new Set(parts.flatMap((part) => (part.kind === 'call' ? (part.links ?? []) : [])))],
});
