export interface FileEntry {
  path: string;
  size: number;
  /** SHA-256, hex. */
  hash: string;
}

/** Where an artifact's zip lies. Equal code of one workspace lies there once. */
export const codeKeyOf = (workspaceId: string, digest: string): string => `${workspaceId}/artifacts/${digest}.zip`;
