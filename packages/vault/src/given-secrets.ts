/** Which form of its secrets the code of a run gets: the value, or a placeholder for the egress proxy to replace. */
import { type JobCredential, newPlaceholder } from '@gantry/events';
import type { OpenedSecret } from './secret-store';

export interface GivenSecrets {
  /** Values by name. */
  secrets: Record<string, string>;
  credentials: JobCredential[];
}

/**
 * @param isTest it reaches no network, so its placeholder stands for nothing but itself
 * @param exposed names whose value the code gets in spite of their hosts
 */
export function givenSecrets(
  opened: OpenedSecret[],
  { isTest, exposed = [] }: { isTest: boolean; exposed?: string[] },
): GivenSecrets {
  const isHeld = ({ name, hosts }: OpenedSecret) => hosts.length > 0 && !exposed.includes(name);
  const secrets = Object.fromEntries(opened.filter((one) => !isHeld(one)).map(({ name, value }) => [name, value]));
  const credentials = opened.filter(isHeld).map(({ name, value, hosts }): JobCredential => {
    const placeholder = newPlaceholder();
    return {
      ...{ kind: 'secret', name, placeholder, value: isTest ? placeholder : value, hosts, inBody: false },
      ...{ baseUrl: null, accountLabel: null, scopes: [] },
    };
  });
  return { secrets, credentials };
}
