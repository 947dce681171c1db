import { measureLongestTurn } from './longest-turn';
import { readThreadCpuMs } from './thread-cpu';

const TASKS = 6;

const keepBusy = () => {
  const until = readThreadCpuMs() + 30;
  while (readThreadCpuMs() < until);
};

test('callbacks that are ready at once are measured one by one, and promises with the callback that settled them', async () => {
  const runAtOnce = () =>
    Promise.all(
      Array.from({ length: TASKS }, () => new Promise<void>((resolve) => setImmediate(() => resolve(keepBusy())))),
    );
  const runTogether = async () => {
    await new Promise((resolve) => setImmediate(resolve));
    for (let done = 0; done < TASKS; done++) await Promise.resolve().then(keepBusy);
  };
  const alone = (await measureLongestTurn(runAtOnce, 0)) ?? 0;
  const together = (await measureLongestTurn(runTogether, 0)) ?? Number.POSITIVE_INFINITY;
  expect(together).toBeGreaterThan((TASKS / 2) * alone);
});
