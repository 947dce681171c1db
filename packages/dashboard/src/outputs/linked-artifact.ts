import type { RunArtifact } from '../shell/api';

/** A file that a run created, with its URL. */
export interface LinkedArtifact extends RunArtifact {
  url: string;
}
