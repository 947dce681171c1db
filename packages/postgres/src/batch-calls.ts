/**
 * Calls that come while one is under way are made together when it has ended: under load one statement or one commit
 * serves many requests, and a call that comes alone is made at once. What a caller gets was read or written after its
 * call began.
 *
 * @param work is given the arguments, oldest first, and resolves with a result for each in the same order. Where it
 *   rejects, all of its callers do: a failure of one call alone has to be a result
 * @param max how many are made together
 */
export function createBatcher<Argument, Result>(
  work: (args: Argument[]) => Promise<Result[]>,
  max: number,
): (arg: Argument) => Promise<Result> {
  interface Call {
    arg: Argument;
    resolve: (result: Result) => void;
    reject: (err: unknown) => void;
  }
  const waiting: Call[] = [];
  let isWorking = false;

  async function runBatch(calls: Call[]): Promise<void> {
    try {
      const results = await work(calls.map(({ arg }) => arg));
      for (const [index, { resolve }] of calls.entries()) resolve(results[index] as Result);
    } catch (err) {
      for (const { reject } of calls) reject(err);
    }
  }

  async function runWaitingCalls(): Promise<void> {
    isWorking = true;
    // Bounded: once for each statement, which takes longer than to move what waits.
    while (waiting.length) await runBatch(waiting.splice(0, max));
    isWorking = false;
  }

  return (arg) =>
    new Promise((resolve, reject) => {
      waiting.push({ arg, resolve, reject });
      if (!isWorking) void runWaitingCalls();
    });
}
