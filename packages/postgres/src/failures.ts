/** SQLSTATEs of a server that is away, full, going down or too slow for us, and what Node and Prisma say of the same. */
const DOWN =
  /^(08...|57014|57P0[1-5]|53...|ECONNREFUSED|ECONNRESET|EPIPE|ENOTFOUND|ETIMEDOUT|P1001|P1002|P1008|P1017|P2024|P2028)$/;
const DOWN_TEXT =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Server has closed the connection|Connection ended)/;
/** A SQLSTATE that Prisma has no code for, as it quotes it; `N/A` where the connection broke before there was one. */
const QUOTED_SQLSTATE = /Code: `(08...|57014|57P0[1-5]|53...|N\/A)`/;

/** True where the failure lies with PostgreSQL or the network to it, so that the caller may simply retry. Causes are not looked at. */
export function isPostgresDown(err: Error): boolean {
  const { code } = err as { code?: unknown };
  return (
    (typeof code === 'string' && DOWN.test(code)) || DOWN_TEXT.test(err.message) || QUOTED_SQLSTATE.test(err.message)
  );
}
