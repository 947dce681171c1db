/** The value below which the share `p` (0 to 1) of the numbers lies. */
export function quantile(numbers, p) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))];
}

export const median = (numbers) => quantile(numbers, 0.5);

export function printLatencies(rows) {
  console.table(
    Object.fromEntries(
      rows.map(({ name, ms }) => [
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
