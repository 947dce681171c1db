/** Builds the keys of objects of runs. */

/** Builds the folder of all objects of a run, of any attempt; only its input files are elsewhere. */
export const buildRunFolder = (workspaceId: string, runId: string): string => `${workspaceId}/runs/${runId}`;

export const isDigest = (text: string): boolean => /^[0-9a-f]{64}$/.test(text);

/**
 * Builds the key of a file that a run's code has uploaded for a model. Addressed by content, so that no attempt uploads
 * it again.
 */
export const buildAttachmentKey = (workspaceId: string, runId: string, sha256: string): string =>
  `${buildRunFolder(workspaceId, runId)}/attachments/${sha256}`;
