/** The guarantees of Idempotency-Key, tested on a service's operations. */
import { randomUUID } from 'node:crypto';
import type { Test } from 'supertest';

type Sql = (text: string, values: unknown[]) => Promise<unknown>;

/** Leaves a key as a process does that dies after its commit and before it has stored the answer. */
export const clearStoredResponse = (sql: Sql, key: string): Promise<unknown> =>
  sql(
    `UPDATE idempotency_keys SET claim = 'of a dead process', lease_until = now() - interval '1 second',
       response_status = NULL, response_body = NULL, response_location = NULL WHERE key = $1`,
    [key],
  );

/**
 * @param operations each prepares its resources, and returns a function that sends the same request each time
 * @param service.counts row counts of the tables that the operations insert into
 * @param service.fields the property of error bodies that names fields
 */
export function testIdempotency(
  operations: Record<string, () => Promise<() => Test>>,
  { sql, counts, fields }: { sql: Sql; counts: () => Promise<unknown>; fields: 'details' | 'errors' },
): void {
  describe.each(Object.entries(operations))('%s', (_operation, prepare) => {
    async function sendTwice(between: (key: string) => unknown) {
      const [send, key] = [await prepare(), randomUUID()];
      const first = await send().set('Idempotency-Key', key);
      expect(first.status).toBeLessThan(300);
      await between(key);
      const before = await counts();
      const again = await send().set('Idempotency-Key', key);
      expect(await counts()).toEqual(before);
      return { first, again };
    }

    test('is executed once for one key, with the same response', async () => {
      const { first, again } = await sendTwice(() => {});
      expect([again.status, again.body]).toEqual([first.status, first.body]);
      expect(again.headers['idempotent-replayed']).toBe('true');
    });

    test('is not executed again if the first request died after its commit', async () => {
      const { first, again } = await sendTwice((key) => clearStoredResponse(sql, key));
      if (again.status === 409) expect(again.body).toMatchObject({ code: 'already_done', [fields]: [{ path: 'id' }] });
      else expect([again.status, again.body]).toEqual([first.status, first.body]);
    });
  });
}
