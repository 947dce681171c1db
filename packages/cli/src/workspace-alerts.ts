/**
 * Alerts as a file has them. An alert has no name: its worker and where it goes identify it. The path of a webhook is
 * often the receiver's only secret, so an export has `${VARIABLE}` in its place, and its host.
 */
import type { WorkerSchemas } from '@gantry/sdk';
import { locatedError, requireMap, type YamlSource } from './yaml-source';

type RemoteAlert = WorkerSchemas['Alert'];

export type Alert = ReturnType<typeof readAlerts>[number];

const FIELDS = ['worker', 'on', 'url', 'host', 'email_to', 'description', 'enabled'];
const VARIABLE = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/;

/** @throws CommandError with the line and the column */
export function readAlerts(source: YamlSource, environment: NodeJS.ProcessEnv) {
  const list = source.value ?? [];
  if (!Array.isArray(list)) throw locatedError(source, [], 'expected a list of alerts');
  return list.map((item: unknown, index) => {
    const where = [String(index)];
    const example = 'expected an alert, such as { on: [run.failed], email_to: oncall@example.com }';
    const fields = requireMap(source, example, { place: where, value: item });
    const unknown = Object.keys(fields).find((field) => !FIELDS.includes(field));
    if (unknown) {
      throw locatedError(source, [...where, unknown], `${unknown} is not an alert field; fields: ${FIELDS.join(', ')}`);
    }
    const readText = (field: string): string | null => {
      const value = fields[field] ?? null;
      if (value === null || typeof value === 'string') return value;
      throw locatedError(source, [...where, field], `${field}: expected a string`);
    };
    const { on, enabled = true } = fields;
    if (!Array.isArray(on) || !on.length || on.some((type) => typeof type !== 'string')) {
      throw locatedError(source, [...where, 'on'], 'on: expected a list such as [run.failed]');
    }
    if (typeof enabled !== 'boolean')
      throw locatedError(source, [...where, 'enabled'], 'enabled: expected true or false');
    const urlText = readText('url');
    const variable = VARIABLE.exec(urlText ?? '')?.[1];
    const url = variable === undefined ? urlText : environment[variable] || null;
    if (url !== null && !URL.canParse(url)) throw locatedError(source, [...where, 'url'], 'url: invalid URL');
    return {
      /** Null: of the whole workspace. */
      worker: readText('worker'),
      // The server names the types that there are.
      on: on as RemoteAlert['on'],
      /** Null where there is none, or where its variable is not set. */
      url,
      host: url === null ? readText('host') : new URL(url).host,
      /** The variable that has the url, where it is not set. */
      missingVariable: variable !== undefined && url === null ? variable : null,
      email_to: readText('email_to'),
      description: readText('description') ?? '',
      enabled,
      /** Where in the file it is. */
      place: source.locate(where),
    };
  });
}

/** The alerts of workers and of the workspace, in the form of the file. */
export function toAlertFile(alerts: RemoteAlert[]): Record<string, unknown>[] {
  const variables = new Set<string>();
  const reserveVariable = (host: string): string => {
    const name = `ALERT_URL_${host.toUpperCase().replace(/[^A-Z0-9]+/g, '_')}`;
    let freeName = name;
    for (let count = 2; variables.has(freeName); count++) freeName = `${name}_${count}`;
    variables.add(freeName);
    return `\${${freeName}}`;
  };
  return alerts.map(({ worker_id, on, url, email_to, description, enabled }) => ({
    ...(worker_id !== null && { worker: worker_id }),
    on,
    ...(url !== null && { url: reserveVariable(new URL(url).host), host: new URL(url).host }),
    ...(email_to !== null && { email_to }),
    ...(description && { description }),
    ...(!enabled && { enabled }),
  }));
}

/** Whether they are one alert, which may differ in everything but its subject and where it goes. */
export function isSameAlert(local: Alert, remote: RemoteAlert): boolean {
  if (local.worker !== remote.worker_id || local.email_to !== remote.email_to) return false;
  if (local.url !== null && !remote.url?.endsWith('/…')) return normalizeUrl(remote.url) === normalizeUrl(local.url);
  return (remote.url === null ? null : new URL(remote.url).host) === local.host;
}

const normalizeUrl = (url: string | null): string | null => url && new URL(url).href;
