/** More than any network delays, and less than what ends a session, a lease or a signature too early. */
const SKEW_MS_MAX = 60_000;

/**
 * A sentence where a server's clock is apart from ours; undefined where it is not.
 * @param requestedAt by our clock, before the server was asked
 */
export function describeClockProblem(
  server: string,
  serverTime: Date,
  requestedAt: number,
  respondedAt = Date.now(),
): string | undefined {
  const ahead = serverTime.getTime() - (serverTime.getTime() < requestedAt ? requestedAt : respondedAt);
  if (Number.isNaN(ahead) || Math.abs(ahead) < SKEW_MS_MAX) return undefined;
  const apart = `${Math.round(Math.abs(ahead) / 1_000)} s ${ahead < 0 ? 'behind' : 'ahead of'}`;
  return `${server}'s clock is ${apart} this machine's: synchronise both with NTP`;
}
