/** Builds SQL statements with named parameters instead of numbers. */
import type { QueryConfig } from 'pg';

export type Statement = (params: Record<string, unknown>) => QueryConfig;

/**
 * `$name` in the text stands for the parameter of that name. The text is read once, when the statement is made: make it
 * outside of the function that uses it.
 * @param name under which a connection keeps it prepared; undefined: not at all
 * @returns a call of it. It throws where a value is missing: null has to be said
 */
export function createStatement(name: string | undefined, text: string): Statement {
  const names: string[] = [];
  const numbered = text.replace(/\$([a-z]\w*)/g, (_match, param: string) => {
    // Bounded: parameters of a statement in our code, read once.
    const number = names.includes(param) ? names.indexOf(param) + 1 : names.push(param);
    return `$${number}`;
  });
  return (params) => ({
    ...(name && { name }),
    text: numbered,
    values: names.map((param) => {
      const value = params[param];
      if (value === undefined) throw new Error(`${name ?? 'statement'}: no value for $${param}`);
      return value;
    }),
  });
}

/** The same for a statement that no connection keeps prepared. */
export const createUnnamedStatement = (text: string): Statement => createStatement(undefined, text);

/**
 * Builds a table of rows inside of a statement, with an array for each column.
 * @param columns by name: the type in SQL, and the value
 */
export function createRowSet<T>(alias: string, columns: Record<string, [type: string, value: (row: T) => unknown]>) {
  const parts = Object.entries(columns).map(([column, [type, value]]) => ({
    param: `${alias}_${column}`,
    type,
    value,
  }));
  const arrays = parts.map(({ param, type }) => `$${param}::${type}[]`).join(', ');
  return {
    /** For FROM in a statement's text. */
    sql: `unnest(${arrays}) AS ${alias}(${Object.keys(columns).join(', ')})`,
    /** For its call. */
    params: (rows: T[]) => Object.fromEntries(parts.map(({ param, value }) => [param, rows.map(value)])),
  };
}
