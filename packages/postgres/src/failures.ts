/** SQLSTATEs of a server that is down, full, shutting down or too slow, and the equivalents of Node and Prisma. */
const DOWN =
  /^(08...|57014|57P0[1-5]|53...|ECONNREFUSED|ECONNRESET|EPIPE|ENOTFOUND|ETIMEDOUT|P1001|P1002|P1008|P1017|P2024|P2028|P2037)$/;
const DOWN_TEXT =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Server has closed the connection|Connection ended)/;
/** A SQLSTATE without a Prisma code, as Prisma quotes it; `N/A` if the connection broke before there was one. */
const QUOTED_SQLSTATE = /Code: `(08...|57014|57P0[1-5]|53...|N\/A)`/;

/** True if PostgreSQL or the network to it failed, so that the caller may simply retry. Does not inspect causes. */
export function isPostgresDown(err: Error): boolean {
  const { code } = err as { code?: unknown };
  return (
    (typeof code === 'string' && DOWN.test(code)) || DOWN_TEXT.test(err.message) || QUOTED_SQLSTATE.test(err.message)
  );
}
