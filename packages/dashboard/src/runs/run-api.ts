/**
 * Accesses runs for an automation's page. A member may read every run of the workspace; a visitor who only holds the
 * link may read a run that was started from the page, by its id.
 */
import { api, type Page, type Run } from '../shell/api';
import { openEventStream } from '../shell/open-event-stream';
import { buildRunUrls } from '../shell/paths';

export interface RunApi {
  start: (inputs: Record<string, unknown>) => Promise<string>;
  get: (runId: string) => Promise<Run>;
  cancel: (runId: string) => Promise<Run>;
  connect: (runId: string, lastEventId: string | null, signal: AbortSignal) => Promise<Response>;
  /** URL of a file that a run created. It is opened without a header: the session cookie opens it. */
  artifactUrl: (runId: string, artifactId: string) => string;
}

export function createRunApi(automationId: string, access: Page['access']): RunApi {
  const member = access === 'member';
  const urls = buildRunUrls(automationId, access);
  const toPathParams = (runId: string) => ({ params: { path: { automationId, runId } } });
  const toRunPathParams = (runId: string) => ({ params: { path: { runId } } });
  return {
    async start(inputs) {
      const started = await api.automation.POST('/api/pages/{automationId}/runs', {
        params: { path: { automationId } },
        body: { inputs, wait: 0 },
      });
      return started.runId;
    },
    get: (runId) =>
      member
        ? api.automation.GET('/api/runs/{runId}', toRunPathParams(runId))
        : api.automation.GET('/api/pages/{automationId}/runs/{runId}', toPathParams(runId)),
    cancel: (runId) =>
      member
        ? api.automation.POST('/api/runs/{runId}/cancel', toRunPathParams(runId))
        : api.automation.POST('/api/pages/{automationId}/runs/{runId}/cancel', toPathParams(runId)),
    connect: (runId, lastEventId, signal) => openEventStream(urls.events(runId), lastEventId, signal),
    artifactUrl: urls.artifact,
  };
}
