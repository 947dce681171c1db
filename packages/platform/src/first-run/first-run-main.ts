import { readInput } from '../supervise/run-once';
import {
  type Addresses,
  createOwner,
  createSampleWorker,
  deploySample,
  type FirstAccount,
  type Owner,
  type Sample,
} from './first-run';

export interface FirstRunInput {
  addresses: Addresses;
  /** The sign-in of the first owner. Absent if there is one. */
  account?: FirstAccount;
  /** Creates the samples. */
  token?: string;
  examples?: { automation: string; worker: string };
}

export interface FirstRunOutput {
  /** Null if the platform was set up by another operator, whose password is not known here. */
  owner?: Owner | null;
  sample?: Sample;
  /** The reason why there are no samples, which does not stop a platform that works otherwise. */
  sampleProblem?: string;
}

async function main() {
  const { addresses, account, token, examples } = await readInput<FirstRunInput>();
  const output: FirstRunOutput = {};
  if (account) output.owner = await createOwner(addresses, account);
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
