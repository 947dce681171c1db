import { api } from '../shell/api';

/**
 * Downloads an artifact with the session: the worker surface is another origin, which a plain link reaches without
 * it.
 */
export const downloadArtifact = (runId: string, artifactId: string): Promise<Blob> =>
  api.worker.GET('/api/runs/{run_id}/artifacts/{artifact_id}/download', {
    params: { path: { run_id: runId, artifact_id: artifactId } },
    parseAs: 'blob',
  });
