/** No request of 1 MB stops a service for longer than this, of any sender. */
import { readOpenApiDocument } from '@gantry/http';
import { type MeasuredSender, type SentRequest, startMeasuredSender } from '../security/event-loop';
import { buildWorstBodies } from '../security/worst-bodies';
import { buildPath, type IsolatedSurface } from './matrix';

export const BLOCKED_MS_MAX = 100;

export interface EventLoopChecker {
  /** Sends an operation the bodies that cost the most. @returns what was too slow or failed, one sentence each */
  check(operationId: string): Promise<string[]>;
  requests(): number;
  stop(): Promise<unknown>;
}

type CheckedSurface = Pick<IsolatedSurface, 'openapiFile' | 'url' | 'fixtures' | 'real' | 'home'>;

export function createEventLoopChecker(surface: CheckedSurface): EventLoopChecker {
  const document = readOpenApiDocument(surface.openapiFile);
  const sender: MeasuredSender = startMeasuredSender();
  const seen = new Set<string>();
  let requests = 0;

  return {
    requests: () => requests,
    stop: () => sender.stop(),
    async check(operationId) {
      const operation = document.operations.find(({ id }) => id === operationId);
      if (!operation) throw new Error(`no operation ${operationId}`);
      const sent = surface.fixtures[operationId]?.send(surface.real) ?? {};
      const bodies = buildWorstBodies(operation, document.schemas, sent.body, seen);
      const url = `${surface.url}${buildPath(operation.path, sent)}${sent.query ? `?${sent.query}` : ''}`;
      const headers = { 'Content-Type': 'application/json' };
      const asOwner: SentRequest = {
        url,
        method: operation.method.toUpperCase(),
        headers: { ...headers, Authorization: `Bearer ${surface.home.owner}` },
      };
      const problems: string[] = [];
      for (const { what, text } of bodies) {
        requests++;
        const { status, blockedMs } = await sender.send(asOwner, text, BLOCKED_MS_MAX);
        if (status >= 500) problems.push(`${operationId}, ${what}: ${status}`);
        if (blockedMs > BLOCKED_MS_MAX)
          problems.push(`${operationId}, ${what}: blocked for ${Math.round(blockedMs)} ms`);
      }
      return problems;
    },
  };
}
