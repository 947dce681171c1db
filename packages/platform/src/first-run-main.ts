import { type Addresses, createOwner, deploySample, type Owner, type Sample } from './first-run';
import { readInput } from './run-once';

export interface FirstRunInput {
  addresses: Addresses;
  /** Creates the first owner unless there is a token already. */
  account: { email: string; password: string; setupToken: string };
  token?: string;
  /** Absent: no sample is wanted. */
  exampleDir?: string;
}

export interface FirstRunOutput {
  /** Null if the platform had been set up before, by somebody whose password is not known here. */
  owner: Owner | null;
  sample?: Sample;
  /** Why there is no sample: no reason to stop a platform that works otherwise. */
  sampleProblem?: string;
}

async function main() {
  const { addresses, account, exampleDir, ...input } = await readInput<FirstRunInput>();
  const owner = input.token ? null : await createOwner(addresses, account);
  const output: FirstRunOutput = { owner };
  const token = input.token ?? owner?.token;
  if (token && exampleDir) {
    try {
      output.sample = await deploySample(addresses, token, exampleDir);
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
