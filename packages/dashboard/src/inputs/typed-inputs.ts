import type { InputItem } from '../shell/api';
import { initialTyped, readTyped, type Typed } from './input-value';

/** Maps, since an input may be called `constructor`. */
export const beginTyped = (items: InputItem[], given: Record<string, unknown> | null): ReadonlyMap<string, Typed> =>
  new Map(
    items.map((item) => [
      item.name,
      initialTyped(item, given && Object.hasOwn(given, item.name) ? given[item.name] : item.default),
    ]),
  );

/** Parses the fields into the values to send, and the problems by field. */
export function readAll(items: InputItem[], typed: ReadonlyMap<string, Typed>) {
  const inputs: [string, unknown][] = [];
  const problems = new Map<string, string>();
  for (const item of items) {
    const read = readTyped(item, typed.get(item.name) ?? null);
    if ('problem' in read) problems.set(item.name, read.problem);
    else if ('value' in read) inputs.push([item.name, read.value]);
  }
  return { inputs: Object.fromEntries(inputs), problems };
}
