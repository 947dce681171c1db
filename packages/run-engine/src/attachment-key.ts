import { runFolder } from './delete-runs';

export const isDigest = (text: string): boolean => /^[0-9a-f]{64}$/.test(text);

/** Of a file that the code of this run has handed over for a model. Known by its content, so that no attempt does it again. */
export const attachmentKey = (workspaceId: string, runId: string, sha256: string): string =>
  `${runFolder(workspaceId, runId)}/attachments/${sha256}`;
