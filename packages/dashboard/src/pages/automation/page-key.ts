/** Name of what the query cache holds about an automation's page. */
export const pageKey = (automationId: string) => ['page', automationId] as const;
