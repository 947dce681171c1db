/** Chooses what a run is given of the conversation that its message belongs to. */
import type { JobConversation } from '@gantry/events';
import { toWellFormed } from '../conversation/well-formed';
import { type Turn, toAnswer } from './worker-conversation';

export const MEMORY_TURNS_MAX = 40;
/**
 * Bytes of UTF-8, so that the skill, the message and the results of tools have room beside it: see MESSAGES_CHARS_MAX
 * of agent.py.
 */
const MEMORY_BYTES_MAX = 24 * 1024;
const TEXT_CHARS_MAX = 8_000;

/**
 * The last turns that have room, each as a whole with its answer.
 * @param turns the newest ones, in the order in which they were written
 * @param total all that the conversation has
 */
export function toMemory(turns: Turn[], total: number): JobConversation {
  const pairs: JobConversation['messages'][] = [];
  let bytes = 0;
  for (const turn of turns.toReversed()) {
    const pair: JobConversation['messages'] = [
      { role: 'user', content: truncateMessage(turn.message) },
      { role: 'assistant', content: truncateMessage(formatReply(turn)) },
    ];
    bytes += pair.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0);
    if (bytes > MEMORY_BYTES_MAX) break;
    pairs.push(pair);
  }
  return { messages: pairs.reverse().flat(), leftOut: total - pairs.length };
}

function formatReply({ run }: Turn): string {
  const answer = toAnswer(run);
  if (answer !== null) return answer || '[empty response]';
  return run.status === 'completed' ? '[the response is too long to repeat]' : `[no answer: the run ${run.status}]`;
}

function truncateMessage(text: string): string {
  if (text.length <= TEXT_CHARS_MAX) return text;
  return `${toWellFormed(text.slice(0, TEXT_CHARS_MAX))}\n[${text.length - TEXT_CHARS_MAX} more characters were left out]`;
}
