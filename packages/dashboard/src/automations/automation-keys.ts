/** Names of what the query cache holds about automations. */
export const automationKeys = {
  all: (workspaceId: string | undefined) => ['automations', workspaceId] as const,
  list: (workspaceId: string | undefined, q: string, status: string) =>
    ['automations', workspaceId, 'list', q, status] as const,
  settings: (workspaceId: string | undefined, automationId: string) =>
    ['automations', workspaceId, 'settings', automationId] as const,
  /** Its page, which people of no workspace may see as well. */
  page: (automationId: string) => ['page', automationId] as const,
};
