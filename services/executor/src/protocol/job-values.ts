/** Loads values carried by a job, or stored in the object store if they are too large for a message. */
import { type Job, measureSecretsBytes, SECRETS_BYTES_MAX } from '@gantry/events';
import { getBytes } from '../transfer/object-transfer';

/** Larger inputs are refused, from either source. */
const INPUTS_BYTES_MAX = 16 << 20;

/** @throws Error if they, with the values of its credentials, exceed the limit of services */
export function getSecrets(job: Job): Record<string, string> {
  const { secrets = {}, credentials } = job;
  const bytes = measureSecretsBytes(secrets, credentials);
  if (bytes > SECRETS_BYTES_MAX)
    throw new Error(`its secrets are ${bytes} bytes in total; the limit is ${SECRETS_BYTES_MAX}`);
  return secrets;
}

/** Lists the values to mask: code never receives them, but a host may reveal them. */
export const listCredentialValues = ({ credentials = [] }: Job): string[] => credentials.map(({ value }) => value);

export async function loadInputs({ inputs, inputsUrl }: Job): Promise<Record<string, unknown>> {
  if (inputs) return inputs;
  return inputsUrl ? JSON.parse((await getBytes(inputsUrl, INPUTS_BYTES_MAX)).toString()) : {};
}
