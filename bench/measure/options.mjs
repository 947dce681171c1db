import { parseArgs } from 'node:util';

/**
 * Reads a bench's command line.
 * @param {Record<string, number | boolean | undefined>} defaults by option; undefined: a text without a default
 */
export function parseOptions(defaults) {
  const types = Object.entries(defaults).map(([name, value]) => [
    name,
    { type: typeof value === 'boolean' ? 'boolean' : 'string' },
  ]);
  const { values } = parseArgs({ options: Object.fromEntries(types) });
  const toValue = (name) => (typeof defaults[name] === 'number' ? Number(values[name]) : values[name]);
  return { ...defaults, ...Object.fromEntries(Object.keys(values).map((name) => [name, toValue(name)])) };
}
