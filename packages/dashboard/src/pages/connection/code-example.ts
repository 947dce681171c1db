import type { Connection, ConnectionTool } from '../../connections/connection-queries';

const PYTHON_IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Builds worker code that uses the connection: its first allowed tool, or its token if it has none. */
export function buildCodeExample({ app, hosts }: Connection, tools: readonly ConnectionTool[]): string {
  const tool = tools.find(({ allowed }) => allowed !== false);
  return tool ? buildToolExample(app, tool) : buildTokenExample(app, hosts);
}

function buildToolExample(app: string, { name, input_schema: schema }: ConnectionTool): string {
  const { required } = schema as { required?: unknown };
  const names = Array.isArray(required) ? required.filter((one) => typeof one === 'string') : [];
  const areIdentifiers = [name, ...names].every((one) => PYTHON_IDENTIFIER.test(one));
  const member = PYTHON_IDENTIFIER.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
  const keywordArguments = areIdentifiers ? names.map((one) => `${one}=...`).join(', ') : '...';
  return `def run(context):\n    return context.tools[${JSON.stringify(app)}]${member}(${keywordArguments})`;
}

function buildTokenExample(app: string, hosts: readonly string[]): string {
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
