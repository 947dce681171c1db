import type { Connection, ConnectionTool } from '../../connections/connection-queries';

const NAME_IN_PYTHON = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Builds worker code that uses the connection: its first allowed tool, or its token if it has none. */
export function codeExample({ app, hosts }: Connection, tools: readonly ConnectionTool[]): string {
  const tool = tools.find(({ allowed }) => allowed !== false);
  return tool ? byTool(app, tool) : withToken(app, hosts);
}

function byTool(app: string, { name, input_schema: schema }: ConnectionTool): string {
  const { required } = schema as { required?: unknown };
  const names = Array.isArray(required) ? required.filter((one) => typeof one === 'string') : [];
  const areNames = [name, ...names].every((one) => NAME_IN_PYTHON.test(one));
  const member = NAME_IN_PYTHON.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
  const given = areNames ? names.map((one) => `${one}=...`).join(', ') : '...';
  return `def run(context):\n    return context.tools[${JSON.stringify(app)}]${member}(${given})`;
}

function withToken(app: string, hosts: readonly string[]): string {
  const host = hosts.find((one) => !one.startsWith('*')) ?? 'api.example.com';
  return [
    'import requests',
    '',
    'def run(context):',
    `    token = context.connections[${JSON.stringify(app)}].token`,
    '    headers = {"Authorization": f"Bearer {token}"}',
    `    return requests.get("https://${host}/", headers=headers).json()`,
  ].join('\n');
}
