export type FileEntry = {
  path: string;
  size: number;
  /** SHA-256, hex. */
  hash: string;
};

/** Object key of an artifact's zip. Equal code of one workspace is stored once. */
export const buildCodeKey = (workspaceId: string, digest: string): string => `${workspaceId}/artifacts/${digest}.zip`;
