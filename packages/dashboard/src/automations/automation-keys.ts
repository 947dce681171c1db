/** Query keys for automations. */
export const automationKeys = {
  all: (workspaceId: string | undefined) => ['automations', workspaceId] as const,
  list: (workspaceId: string | undefined, q: string, status: string) =>
    ['automations', workspaceId, 'list', q, status] as const,
  settings: (workspaceId: string | undefined, automationId: string) =>
    ['automations', workspaceId, 'settings', automationId] as const,
  /** Its page, which visitors without a workspace can see too. */
  page: (automationId: string) => ['page', automationId] as const,
};
