import type { Connection, Integration } from './connection-queries';

export const CONNECTION_KIND_LABELS: Record<Connection['kind'], string> = {
  oauth: 'Account',
  mcp: 'MCP server',
  api_key: 'Key',
};

/** Returns the name of the service; its slug where the catalogue has none. */
export const getServiceName = (app: string, catalog: readonly Integration[] | undefined): string =>
  catalog?.find(({ slug }) => slug === app)?.name ?? app;

interface CheckResult {
  ok: boolean;
  error: string | null;
  tools_count?: number;
}

/** Formats the result of a check as a sentence. */
export function formatCheckResult(label: string, { ok, error, tools_count: count }: CheckResult): string {
  if (!ok) return `${label} isn’t working: ${error}`;
  return count === undefined
    ? `${label} is working.`
    : `${label} is working. ${count} ${count === 1 ? 'tool' : 'tools'} available.`;
}

/** Splits names in a field, such as hosts, at spaces or commas. */
export const splitNames = (text: string): string[] => text.split(/[\s,]+/).filter((name) => name !== '');
