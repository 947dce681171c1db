import type { InputItem } from '../shell/api';
import { type FieldValue, parseFieldValue, toInitialValue } from './input-value';

/** Maps, since an input may be called `constructor`. */
export const buildInitialValues = (
  items: InputItem[],
  initialInputs: Record<string, unknown> | null,
): ReadonlyMap<string, FieldValue> =>
  new Map(
    items.map((item) => [
      item.name,
      toInitialValue(
        item,
        initialInputs && Object.hasOwn(initialInputs, item.name) ? initialInputs[item.name] : item.default,
      ),
    ]),
  );

/** Parses the fields into the values to send, and the problems by field. */
export function parseFieldValues(items: InputItem[], fieldValues: ReadonlyMap<string, FieldValue>) {
  const inputs: [string, unknown][] = [];
  const problems = new Map<string, string>();
  for (const item of items) {
    const parsed = parseFieldValue(item, fieldValues.get(item.name) ?? null);
    if ('problem' in parsed) problems.set(item.name, parsed.problem);
    else if ('value' in parsed) inputs.push([item.name, parsed.value]);
  }
  return { inputs: Object.fromEntries(inputs), problems };
}
