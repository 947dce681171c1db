/** Query keys for an automation's runs. */
export const runKeys = {
  all: (automationId: string) => ['runs', automationId] as const,
  one: (automationId: string, runId: string) => ['runs', automationId, 'one', runId] as const,
  list: (automationId: string) => ['runs', automationId, 'list'] as const,
  outputs: (automationId: string) => ['runs', automationId, 'outputs'] as const,
};
