/**
 * Polls a condition and resolves with its first truthy value.
 * @throws Error after `deadlineMs` (default a minute, which only a hang reaches); a condition that throws counts as not yet true, its last error is the cause.
 */
export async function waitUntil<T>(
  condition: () => T | Promise<T>,
  options: { deadlineMs?: number; everyMs?: number; what?: string } = {},
): Promise<Exclude<NonNullable<T>, false>> {
  const { deadlineMs = 60_000, everyMs = 10, what = condition.toString() } = options;
  const deadline = Date.now() + deadlineMs;
  let cause: unknown;
  do {
    try {
      const value = await condition();
      if (value) return value as Exclude<NonNullable<T>, false>;
      cause = undefined;
    } catch (err) {
      cause = err;
    }
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  } while (Date.now() < deadline);
  throw new Error(`still not true after ${deadlineMs} ms: ${what}`, { cause });
}
