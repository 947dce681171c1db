/** Fields for a JSON object whose parts a JSON Schema describes, such as the arguments of a tool. */
import type { InputItem } from '../shell/api';
import { isJsonObject, type JsonObject, toJsonObject } from '../ui/json';
import { buildInitialValues, parseFieldValues } from './field-values';

interface SchemaForm {
  items: InputItem[];
  /** Values to begin with, by the names of the items. */
  values: JsonObject;
  /** Rebuilds the object; unchanged parts stay exactly as they were. Throws TypeError where it is no object. */
  toObject: (inputs: JsonObject) => JsonObject;
  /** The item that shows a part of the object; undefined: none does. */
  findItem: (key: string) => InputItem | undefined;
}

const FIELDS_MAX = 40;
const LINE_CHARS_MAX = 100;

/**
 * @param schema null: there is none, and the object is one field of JSON
 * @param prefix makes the names of the items unique on a page with several forms
 */
export function buildSchemaForm(schema: JsonObject | null, initialValues: JsonObject, prefix: string): SchemaForm {
  const properties = toJsonObject(schema?.properties);
  const keys = [...new Set([...Object.keys(properties), ...Object.keys(initialValues)])];
  if (!Object.keys(properties).length || keys.length > FIELDS_MAX) return buildJsonForm(initialValues, prefix);
  const required = Array.isArray(schema?.required) ? schema.required : [];
  const itemsByKey = new Map(
    keys.map((key) => [
      key,
      toInputItem(`${prefix}.${key}`, key, toJsonObject(properties[key]), initialValues[key], required.includes(key)),
    ]),
  );
  const items = [...itemsByKey.values()];
  const values = Object.fromEntries(
    keys.flatMap((key) => (Object.hasOwn(initialValues, key) ? [[`${prefix}.${key}`, initialValues[key]]] : [])),
  );
  const before = parseFieldValues(items, buildInitialValues(items, values)).inputs;
  return {
    items,
    values,
    findItem: (key) => itemsByKey.get(key),
    toObject: (inputs) =>
      Object.fromEntries(
        keys.flatMap((key): [string, unknown][] => {
          const name = `${prefix}.${key}`;
          const isUnchanged = JSON.stringify(inputs[name]) === JSON.stringify(before[name]);
          if (isUnchanged) return Object.hasOwn(initialValues, key) ? [[key, initialValues[key]]] : [];
          if (Object.hasOwn(inputs, name)) return [[key, inputs[name]]];
          return isTextItem(itemsByKey.get(key)) && required.includes(key) ? [[key, '']] : [];
        }),
      ),
  };
}

function buildJsonForm(initialValues: JsonObject, prefix: string): SchemaForm {
  const name = `${prefix}.`;
  const item: InputItem = { name, label: 'Arguments as JSON', type: 'json', required: true };
  return {
    items: [item],
    values: { [name]: initialValues },
    findItem: () => item,
    toObject: (inputs) => {
      const value = inputs[name];
      if (!isJsonObject(value)) throw new TypeError('Enter a JSON object.');
      return value;
    },
  };
}

const isTextItem = (item: InputItem | undefined): boolean => item?.type === 'text' || item?.type === 'textarea';

function toInputItem(
  name: string,
  key: string,
  schema: JsonObject,
  initialValue: unknown,
  isRequired: boolean,
): InputItem {
  const { description } = schema;
  const shared = { name, label: key, ...(typeof description === 'string' && { description }) };
  const typed = inferInputType(schema, initialValue);
  // An empty text is one: it can be required, and be given.
  if (typed.type === 'text' || typed.type === 'textarea') return { ...shared, ...typed };
  return { ...shared, ...typed, required: isRequired };
}

function inferInputType(schema: JsonObject, initialValue: unknown): Pick<InputItem, 'type'> & Partial<InputItem> {
  const { type, enum: choices } = schema;
  const hasValue = initialValue !== undefined;
  if (
    Array.isArray(choices) &&
    choices.every((one) => typeof one === 'string') &&
    (!hasValue || choices.some((one) => one === initialValue))
  ) {
    return { type: 'select', options: choices };
  }
  if (type === 'string' && (!hasValue || typeof initialValue === 'string')) {
    const limits = {
      ...copyNumberKeyword(schema, 'minLength', 'min_length'),
      ...copyNumberKeyword(schema, 'maxLength', 'max_length'),
    };
    return { type: isMultilineText(initialValue) ? 'textarea' : 'text', ...limits };
  }
  if ((type === 'integer' || type === 'number') && (!hasValue || typeof initialValue === 'number')) {
    return {
      type,
      ...copyNumberKeyword(schema, 'minimum', 'minimum'),
      ...copyNumberKeyword(schema, 'maximum', 'maximum'),
    };
  }
  if (type === 'boolean' && (!hasValue || typeof initialValue === 'boolean')) {
    const options = [true, false].map((value) => ({ value, label: value ? 'Yes' : 'No' }));
    return { type: 'select', options: options as object as NonNullable<InputItem['options']> };
  }
  return { type: 'json' };
}

const isMultilineText = (initialValue: unknown): boolean =>
  typeof initialValue === 'string' && (initialValue.includes('\n') || initialValue.length > LINE_CHARS_MAX);

const copyNumberKeyword = (schema: JsonObject, from: string, to: string): object =>
  typeof schema[from] === 'number' ? { [to]: schema[from] } : {};
