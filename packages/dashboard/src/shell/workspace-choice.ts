/** The current workspace of this browser: stored across reloads, and named in every request. */
const KEY = 'gantry-workspace';

let chosen: string | null = null;
try {
  chosen = localStorage.getItem(KEY);
} catch {
  // A browser may forbid storage; the server's own default then counts.
}

export const workspaceChoice = {
  current: (): string | null => chosen,

  choose(workspaceId: string | null): void {
    chosen = workspaceId;
    try {
      if (workspaceId) localStorage.setItem(KEY, workspaceId);
      else localStorage.removeItem(KEY);
    } catch {
      // See above.
    }
  },

  /** Resets the choice for a user who has left the workspace, or for another user of this browser. */
  keepIfOneOf(workspaceIds: string[]): void {
    if (chosen && !workspaceIds.includes(chosen)) this.choose(null);
  },
};
