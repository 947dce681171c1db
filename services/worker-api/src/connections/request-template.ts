/** Addresses with gaps, and requests that the catalogue describes. */
import { invalid } from '@gantry/errors';
import type { Provider, RequestTemplate } from '../integrations/catalog/provider';

/** A gap of an address is filled with text of people, so with a label of a host name at most. */
const PARAMETER = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/;

/** Puts values into `{gaps}`; one without a value stays. */
export const fillTemplate = (template: string, values: Readonly<Record<string, string>>): string =>
  template.replaceAll(/\{(\w+)\}/g, (gap, name: string) => (Object.hasOwn(values, name) ? (values[name] ?? gap) : gap));

/** @throws AppError 400 naming each parameter that is missing, unknown or no part of a host name */
export function parseParameters(provider: Provider, input: Record<string, string>): Record<string, string> {
  const asked = provider.parameters ?? [];
  // Bounded: 10 parameters (`maxProperties` of Parameters), and those of a provider in the catalogue.
  const unknown = Object.keys(input).filter((name) => !asked.some((one) => one.name === name));
  const problems = [
    ...unknown.map((name) => ({ path: `parameters.${name}`, message: `${provider.name} has no such parameter` })),
    ...asked.flatMap(({ name, label, placeholder }) => {
      const value = input[name];
      const path = `parameters.${name}`;
      if (value === undefined) return [{ path, message: `is required: ${label} (${placeholder})` }];
      return PARAMETER.test(value) ? [] : [{ path, message: 'must consist of 1 to 63 letters, digits or hyphens' }];
    }),
  ];
  if (problems.length) throw invalid(problems);
  return input;
}

/** A request without inputs, such as the one that asks whose account it is. */
export function buildRequest(template: RequestTemplate, parameters: Readonly<Record<string, string>>) {
  const { method, fixed, headers = {} } = template;
  return {
    method,
    url: fillTemplate(template.url, parameters),
    headers: { Accept: 'application/json', ...headers, ...(fixed && { 'Content-Type': 'application/json' }) },
    ...(fixed && { body: JSON.stringify(fixed) }),
  };
}

/** The first of the paths that leads to a text or a number. */
export function findTextByPaths(response: unknown, paths: readonly (readonly string[])[]): string | null {
  for (const path of paths) {
    let at: unknown = response;
    for (const key of path)
      at = at !== null && typeof at === 'object' ? (at as Record<string, unknown>)[key] : undefined;
    if (typeof at === 'string' && at.trim()) return toPlainText(at);
    if (typeof at === 'number') return String(at);
  }
  return null;
}

/** Text of a stranger, for one line of ours: without control, invisible and bidirectional characters. */
export const toPlainText = (text: string): string =>
  text.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]+/gu, ' ').trim();
