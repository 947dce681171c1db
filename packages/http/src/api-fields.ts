type SnakeCase<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : Name;

type JsonValue<Value> = Value extends Date ? string : Value;

/** Caches each derived name across the rows of a list. Bounded: names occur in our code. */
const snakeNames = new Map<string, string>();

function toSnakeCase(name: string): string {
  let snakeName = snakeNames.get(name);
  if (snakeName === undefined) {
    snakeName = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    snakeNames.set(name, snakeName);
  }
  return snakeName;
}

/**
 * Maps fields of a row to their API names in snake case, and dates to ISO 8601.
 * @example toApiFields(session, 'id', 'userAgent', 'createdAt') // { id, user_agent, created_at }
 */
export function toApiFields<Row extends object, Name extends keyof Row & string>(row: Row, ...names: Name[]) {
  const fields: Record<string, unknown> = {};
  for (const name of names) {
    const value = row[name];
    fields[toSnakeCase(name)] = value instanceof Date ? value.toISOString() : value;
  }
  return fields as { [Field in Name as SnakeCase<Field>]: JsonValue<Row[Field]> };
}
