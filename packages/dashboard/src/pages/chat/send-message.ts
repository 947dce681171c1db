import { createEventParser, unwrap } from '@gantry/sdk';
import { getWorkerApi } from '../../shell/api';
import type { SentMessage } from './thread';

export interface MessageInput {
  text: string;
  /** Absent: starts a new conversation. */
  conversationId?: string;
  /** Absent: the installation's default. */
  model?: string;
  /** The same message is accepted once, however often it is sent with this key. */
  key: string;
}

/**
 * Sends a message to the agent and returns once it is accepted. This page, like every other, then reads the agent's
 * work from the conversation's events.
 * @throws ApiError; TypeError where the server is not reached
 */
export async function sendMessage({ text, conversationId, model, key }: MessageInput): Promise<SentMessage> {
  const worker = await getWorkerApi();
  const response = await worker.POST('/api/chat', {
    params: { header: { 'Idempotency-Key': key } },
    body: {
      message: text,
      ...(conversationId !== undefined && { conversation_id: conversationId }),
      ...(model !== undefined && { model }),
    },
    parseAs: 'stream',
  });
  const stream = await unwrap(Promise.resolve(response));
  // For a message that was accepted before, the response is its location.
  if (response.response.headers.get('Content-Type')?.includes('json')) {
    const sentMessage = (await new Response(stream).json()) as SentMessageResponse;
    return { conversationId: sentMessage.conversation_id, turnId: sentMessage.turn_id, eventId: 0 };
  }
  return readFirstEvent(stream as ReadableStream<Uint8Array>);
}

interface SentMessageResponse {
  conversation_id: string;
  turn_id: string;
}

async function readFirstEvent(stream: ReadableStream<Uint8Array>): Promise<SentMessage> {
  const parse = createEventParser();
  const decoder = new TextDecoder();
  const reader = stream.getReader();
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const meta = parse(decoder.decode(part.value, { stream: true })).find(({ event }) => event === 'meta');
      if (!meta) continue;
      const sentMessage = JSON.parse(meta.data) as SentMessageResponse;
      return { conversationId: sentMessage.conversation_id, turnId: sentMessage.turn_id, eventId: Number(meta.id) };
    }
  } finally {
    // The agent continues without this reader.
    void reader.cancel().catch(() => undefined);
  }
  throw new TypeError('the response ended unexpectedly');
}
