import { readInput } from '../supervise/run-once';
import { type Addresses, createOwner, createSampleWorker, deploySample, type Owner, type Sample } from './first-run';

export interface FirstRunInput {
  addresses: Addresses;
  /** Creates the first owner unless there is a token already. */
  account: { email: string; password: string; setupToken: string };
  token?: string;
  /** Absent: no samples are wanted. */
  examples?: { automation: string; worker: string };
}

export interface FirstRunOutput {
  /** Null if the platform had been set up before, by somebody whose password is not known here. */
  owner: Owner | null;
  sample?: Sample;
  /** The reason why there are no samples, which does not stop a platform that works otherwise. */
  sampleProblem?: string;
}

async function main() {
  const { addresses, account, examples, ...input } = await readInput<FirstRunInput>();
  const owner = input.token ? null : await createOwner(addresses, account);
  const output: FirstRunOutput = { owner };
  const token = input.token ?? owner?.token;
  if (token && examples) {
    try {
      const [automation, worker] = await Promise.all([
        deploySample(addresses, token, examples.automation),
        createSampleWorker(addresses, token, examples.worker),
      ]);
      output.sample = { ...automation, worker };
    } catch (err) {
      output.sampleProblem = (err as Error).message;
    }
  }
  process.stdout.write(JSON.stringify(output));
}

main().catch((err) => {
  process.stderr.write(`${err.message}\n`);
  process.exitCode = 1;
});
