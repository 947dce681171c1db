/**
 * Requests of attackers, generated from the OpenAPI documents, to the built services behind nginx: half a minute of
 * them.
 *
 * `GANTRY_FUZZ_SEED=7 GANTRY_FUZZ_SECONDS=3600 npm run test:fuzz` sends others, for longer;
 * `GANTRY_FUZZ_FROM=1234 GANTRY_FUZZ_REQUESTS=1` sends again what a finding names.
 */
import { formatSummary, fuzz } from './fuzz/fuzz';
import { type FuzzTarget, startFuzzTarget } from './fuzz/fuzz-target';

const readNumber = (name: string) => (process.env[name] ? Number(process.env[name]) : undefined);
const seconds = readNumber('GANTRY_FUZZ_SECONDS');
/** A number of requests, and not a time, so that a slow machine sends the same. */
const requests = readNumber('GANTRY_FUZZ_REQUESTS') ?? (seconds === undefined ? 3_000 : undefined);

let ground: FuzzTarget;
beforeAll(async () => {
  ground = await startFuzzTarget();
});
afterAll(() => ground?.stack.stop());

test(
  'no request makes a service fail, stall or log an error, and every response is documented',
  async () => {
    const seed = readNumber('GANTRY_FUZZ_SEED') ?? 1;
    // The first request of each operation compiles its part of the OpenAPI file, which is long and no finding.
    await fuzz({ ...ground, seed: seed + 1, requests: 250 });
    const report = await fuzz({
      ...ground,
      seed,
      seconds,
      from: readNumber('GANTRY_FUZZ_FROM'),
      requests,
    });
    process.stdout.write(formatSummary(report));
    expect(await ground.isSound()).toBe(true);
    expect(report.findings.map(({ kind, what }) => `${kind}: ${what}`)).toEqual([]);
    expect(report.operations.asked).toBe(report.operations.known);
  },
  ((seconds ?? 300) + 300) * 1_000,
);
