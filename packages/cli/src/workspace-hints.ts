/** The stream of changes of a workspace: it says what has changed, not how. */
import { type Gantry, parseEventData, readEventStream, type StreamOptions } from '@gantry/sdk';

interface HintOptions extends Pick<StreamOptions, 'onOpen' | 'onInterrupted' | 'signal'> {
  noun: 'runs' | 'workers';
  onHint: () => void;
}

/** Calls `onHint` for each change, until the signal is aborted. @throws ApiError where the server refuses for good */
export const followHints = (gantry: Gantry, { noun, onHint, ...options }: HintOptions): Promise<void> =>
  readEventStream({
    connect: (lastEventId, signal) =>
      gantry.request('worker', '/api/events', {
        headers: { Accept: 'text/event-stream', ...(lastEventId !== null && { 'Last-Event-ID': lastEventId }) },
        signal,
      }),
    onEvents: (events) => {
      if (events.some((event) => event.event === 'reset' || parseEventData(event).noun === noun)) onHint();
    },
    parseCommentId: (comment) => comment.trim() || null,
    ...options,
  });
