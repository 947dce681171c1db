/**
 * Writes submitted runs. Those that arrive during a statement are written together by the next one, so that a
 * burst costs a few commits instead of one for each run. Nothing resolves before its commit.
 *
 * Each run keeps its own outcome. A statement writes every row under that row's own conditions and returns those that
 * it wrote; if PostgreSQL refuses the statement, its rows are written one by one, so that only the invalid ones fail.
 *
 * Runs with an Idempotency-Key are written separately: another transaction may hold the key's row, and the others must
 * not wait for it. So are large ones, which would be copied once more and keep small ones waiting.
 */
import { isDependencyDown } from '@gantry/errors';
import { createBatcher } from '@gantry/postgres';
import type { Pool } from 'pg';
import { createRunsInserter, type IsCurrentSql, insertBuiltRun, type NewRow, notInsertedError } from '../run-row';

const BATCH_MAX = 100;
/** Characters of JSON. */
const SMALL_CHARS_MAX = 16 * 1024;

/**
 * @throws SubjectChangedError; AppError 409 in a closed workspace, and where another request has the run's
 * Idempotency-Key by now
 */
export type WriteRun = (row: NewRow) => Promise<void>;

type Outcome = { error?: unknown };

export function createRunWriter(pool: Pool, isCurrent: IsCurrentSql | undefined): WriteRun {
  const insertRows = createRunsInserter(isCurrent);

  async function writeOne(row: NewRow): Promise<void> {
    if (!(await insertBuiltRun(pool, row, isCurrent))) throw new Error('a submitted run has no fire time');
  }

  const tryWriteOne = (row: NewRow): Promise<Outcome> =>
    writeOne(row).then(
      () => ({}),
      (error) => ({ error }),
    );

  async function writeBatch(rows: NewRow[]): Promise<Outcome[]> {
    if (rows.length === 1) return Promise.all(rows.map(tryWriteOne));
    try {
      const written = await insertRows(pool, rows);
      return rows.map(({ made, run }) => (written.has(made.id) ? {} : { error: notInsertedError(run) }));
    } catch (err) {
      // The statement may have been committed.
      if (isDependencyDown(err)) throw err;
      return Promise.all(rows.map(tryWriteOne));
    }
  }

  const writeGrouped = createBatcher(writeBatch, BATCH_MAX);

  return async (row) => {
    if (row.run.idempotencyKey || row.inputs.length + row.spec.length > SMALL_CHARS_MAX) return writeOne(row);
    const outcome = await writeGrouped(row);
    if ('error' in outcome) throw outcome.error;
  };
}
