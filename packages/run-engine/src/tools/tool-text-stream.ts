/**
 * The text of an answer on its way, for the executor that waits for it. Live only: the whole answer is recorded, and
 * an executor that has missed words gets them with it.
 */
import { type Bus, encode, runSubjects, TOOL_TEXT_CHARS_MAX, type ToolCall, type ToolTextChunk } from '@gantry/events';
import type { Logger } from 'pino';

const COALESCE_MS = 200;

export function createToolTextStream(
  { bus, log }: { bus: Bus; log: Logger },
  { executorId, runId, token, ordinal }: Pick<ToolCall, 'runId' | 'token' | 'ordinal'> & { executorId: string },
) {
  let unsent = '';
  let from = 0;
  let timer: NodeJS.Timeout | undefined;

  function flush() {
    clearTimeout(timer);
    timer = undefined;
    try {
      while (unsent) {
        const text = unsent.slice(0, TOOL_TEXT_CHARS_MAX);
        const chunk: ToolTextChunk = { token, ordinal, from, text };
        bus.nc.publish(runSubjects.toolText(executorId, runId), encode(chunk));
        from += text.length;
        unsent = unsent.slice(text.length);
      }
    } catch (err) {
      log.debug({ err, runId }, 'could not publish model text');
      from += unsent.length;
      unsent = '';
    }
  }

  return {
    push(text: string) {
      unsent += text;
      timer ??= setTimeout(flush, COALESCE_MS);
    },
    /** Sends what is left. */
    end: flush,
  };
}
