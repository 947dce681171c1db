import type { RunArtifact } from '../shell/api';

/** A file that a run has made, with the address to fetch it from. */
export interface LinkedArtifact extends RunArtifact {
  url: string;
}
