/**
 * Builds an SQL condition: a `json` column has at most this many bytes. The stored size is compared first, since that
 * reads no value; a repetitive value is compressed to a hundredth, so that alone would put 700 KB into each item of a
 * list.
 */
export const buildSmallJsonSql = (column: string, maxBytes: number): string =>
  `(pg_column_size(${column}) <= ${maxBytes} AND octet_length(${column}::text) <= ${maxBytes})`;
