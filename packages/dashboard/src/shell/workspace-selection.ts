/** The current workspace of this browser: stored across reloads, and named in every request. */
const STORAGE_KEY = 'gantry-workspace';

let selectedId: string | null = null;
try {
  selectedId = localStorage.getItem(STORAGE_KEY);
} catch {
  // A browser may forbid storage; the server's own default then counts.
}

export const workspaceSelection = {
  current: (): string | null => selectedId,

  choose(workspaceId: string | null): void {
    selectedId = workspaceId;
    try {
      if (workspaceId) localStorage.setItem(STORAGE_KEY, workspaceId);
      else localStorage.removeItem(STORAGE_KEY);
    } catch {
      // See above.
    }
  },

  /** Resets the choice for a user who has left the workspace, or for another user of this browser. */
  resetUnlessMember(workspaceIds: string[]): void {
    if (selectedId && !workspaceIds.includes(selectedId)) this.choose(null);
  },
};
