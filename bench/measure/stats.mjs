/** The value below which the share `p` (0 to 1) of the numbers lies. */
export function quantile(numbers, p) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))];
}

export const median = (numbers) => quantile(numbers, 0.5);

/** @param {Record<string, number[]>} msByName */
export function printLatencies(msByName) {
  console.table(
    Object.fromEntries(
      Object.entries(msByName).map(([name, ms]) => [
        name,
        {
          'p50 ms': round(median(ms)),
          'p90 ms': round(quantile(ms, 0.9)),
          'p99 ms': round(quantile(ms, 0.99)),
          'p99/p50': round(quantile(ms, 0.99) / median(ms)),
          n: ms.length,
        },
      ]),
    ),
  );
}

export const round = (value, digits = 2) => Number(value.toFixed(digits));

/** @returns {Promise<number>} how long the work took, in ms */
export async function timed(work) {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/**
 * Times steps in turns, forth and back, so that none always comes after the same other.
 * @param {Record<string, (turn: number) => Promise<unknown>>} steps by name
 * @returns {Promise<Record<string, number[]>>} ms by name
 */
export async function timeInterleaved(steps, turns) {
  const names = Object.keys(steps);
  const ms = Object.fromEntries(names.map((name) => [name, []]));
  for (let turn = 0; turn < turns; turn++) {
    for (const name of turn % 2 ? names.toReversed() : names) ms[name].push(await timed(() => steps[name](turn)));
  }
  return ms;
}
