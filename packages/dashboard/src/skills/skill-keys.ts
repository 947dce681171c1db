/** Query keys for skills; all keys of a workspace share a prefix. */
type WorkspaceId = string | undefined;

export const skillKeys = {
  all: (workspaceId: WorkspaceId) => ['skills', workspaceId] as const,
  list: (workspaceId: WorkspaceId, which: string, q = '') => ['skills', workspaceId, 'list', which, q] as const,
  one: (workspaceId: WorkspaceId, slug: string) => ['skills', workspaceId, 'one', slug] as const,
  part: (workspaceId: WorkspaceId, slug: string, part: 'versions' | 'shares') =>
    ['skills', workspaceId, 'one', slug, part] as const,
  version: (workspaceId: WorkspaceId, slug: string, version: number) =>
    ['skills', workspaceId, 'one', slug, 'versions', version] as const,
  /** The key changes with every keystroke, so these entries are not kept for long. */
  rendered: (workspaceId: WorkspaceId, title: string, text: string) =>
    ['skills', workspaceId, 'rendered', title, text] as const,
  /** The draft that is not saved yet; `slug` is null for a new skill. */
  draft: (workspaceId: WorkspaceId, slug: string | null) => ['skills', workspaceId, 'draft', slug] as const,
  libraries: (workspaceId: WorkspaceId, which: 'own' | 'subscribed' | 'starters') =>
    ['skills', workspaceId, 'libraries', which] as const,
  library: (workspaceId: WorkspaceId, slug: string) => ['skills', workspaceId, 'library', slug] as const,
};
