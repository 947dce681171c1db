/**
 * Ends connections on which PostgreSQL has gone silent, such as that of a frozen server or of a host that has vanished.
 *
 * The server's own limit of statements does not work then. The connection is destroyed, and not only the query given
 * up: a query that was sent cannot be taken back, and behind it, a ROLLBACK would never be sent, so the next user of
 * the connection would be inside the transaction of the last one.
 */
import type { Socket } from 'node:net';
import type { Pool, PoolClient } from 'pg';

/** Parts of pg's client that its types do not describe. */
type ConnectedClient = PoolClient & { connection: { stream: Socket }; readyForQuery: boolean };

/** No limit, for idle connections, which wait for nothing. */
const NONE = 0;

/** @param limitMs longer than any statement may take, or statements that are merely slow would lose their connection */
export function limitResponseTime(pool: Pool, limitMs: number): void {
  pool.on('connect', (client) => {
    const connected = client as ConnectedClient;
    const { stream } = connected.connection;
    stream.on('timeout', () => {
      // A transaction whose owner does other work meanwhile waits for nothing either.
      if (!connected.readyForQuery) stream.destroy();
    });
  });
  pool.on('acquire', (client) => setLimit(client, limitMs));
  pool.on('release', (_err, client) => setLimit(client, NONE));
}

/** For maintenance inside a transaction: its statements may take as long as they need. */
export async function disableTimeLimits(tx: PoolClient): Promise<void> {
  await tx.query('SET LOCAL statement_timeout = 0');
  setLimit(tx, NONE);
}

function setLimit(client: PoolClient, limitMs: number): void {
  (client as ConnectedClient).connection.stream.setTimeout(limitMs);
}
