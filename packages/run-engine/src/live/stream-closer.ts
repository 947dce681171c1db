/** Ends the streams of a workspace when it is closed. */
import type { WorkspaceClosures } from '@gantry/events';
import type { Response } from 'express';

/** The unread rest of a slow reader's stream is dropped after this time. */
const DESTROY_AFTER_MS = 1_000;

export function createStreamCloser(closures: WorkspaceClosures) {
  const streams = new Map<string, Set<Response>>();

  function endStreams(workspaceId: string) {
    for (const stream of streams.get(workspaceId) ?? []) {
      stream.end();
      setTimeout(() => stream.destroy(), DESTROY_AFTER_MS).unref();
    }
  }

  closures.onClosed(endStreams);
  return {
    /** Ends the stream when its workspace is closed; at once if it was closed a moment before. */
    watch(workspaceId: string, stream: Response) {
      const open = streams.get(workspaceId) ?? new Set();
      streams.set(workspaceId, open.add(stream));
      stream.once('close', () => {
        open.delete(stream);
        if (!open.size) streams.delete(workspaceId);
      });
      if (closures.has(workspaceId)) endStreams(workspaceId);
    },
  };
}
