/** The secrets of a run in the form its code gets: the value, or a placeholder for the egress proxy to replace. */
import { type JobCredential, newPlaceholder, type RunError } from '@gantry/events';
import { type OpenedSecret, type SecretStore, UnreadableSecretError } from './secret-store';

export interface RunSecrets {
  /** Values by name. */
  secrets: Record<string, string>;
  credentials: JobCredential[];
}

interface RunWithSecrets {
  id: string;
  workspaceId: string;
  kind: 'run' | 'test';
  spec: { secrets: string[]; expose?: string[]; inBody?: string[]; rehearsal?: { isUnread?: true } };
}

/**
 * Loads the secrets of a run without unset names. `refused`: one cannot be decrypted, so the run cannot be handed out.
 */
export async function loadRunSecrets(
  { secrets, log }: { secrets: Pick<SecretStore, 'open'>; log: { error(fields: object, message: string): void } },
  { id: runId, workspaceId, kind, spec }: RunWithSecrets,
): Promise<{ refused: RunError } | RunSecrets> {
  try {
    const opened = await secrets.open(workspaceId, spec.secrets);
    return splitSecrets(opened, {
      isOffline: kind === 'test' && (!spec.rehearsal || spec.rehearsal.isUnread === true),
      exposed: spec.expose,
      inBody: spec.inBody,
      isUnread: spec.rehearsal?.isUnread,
    });
  } catch (err) {
    if (!(err instanceof UnreadableSecretError)) throw err;
    log.error({ err, workspaceId, runId }, 'could not hand out a run');
    const message = `${err.message}. Set the secret again with POST /api/secrets, then start a new run.`;
    return { refused: { code: 'missing_secret', message } };
  }
}

/**
 * Splits secrets into values for the code and credentials for the egress proxy.
 * @param isOffline the run sends nothing, so its placeholders are never replaced
 * @param exposed names whose value the code gets despite their hosts
 * @param inBody names whose placeholders are replaced in bodies, where their places allow that; absent: all of them
 * @param isUnread the code is unreviewed: in place of a value without hosts it gets an unused placeholder
 */
export function splitSecrets(
  openedSecrets: OpenedSecret[],
  {
    isOffline,
    exposed = [],
    inBody,
    isUnread = false,
  }: {
    isOffline: boolean;
    exposed?: string[] | undefined;
    inBody?: string[] | undefined;
    isUnread?: boolean | undefined;
  },
): RunSecrets {
  const isWithheld = ({ name, hosts }: OpenedSecret) => hosts.length > 0 && !exposed.includes(name);
  const toCodeValue = ({ value }: OpenedSecret) => (isUnread ? newPlaceholder() : value);
  const secrets = Object.fromEntries(
    openedSecrets.filter((one) => !isWithheld(one)).map((one) => [one.name, toCodeValue(one)]),
  );
  const credentials = openedSecrets.filter(isWithheld).map(({ name, value, hosts, places }): JobCredential => {
    const placeholder = newPlaceholder();
    // Bounded: 50 secrets (`secretNames`) and 100 names (`in_body`).
    return {
      kind: 'secret',
      name,
      placeholder,
      value: isOffline ? placeholder : value,
      hosts,
      places: filterPlaces(places, inBody?.includes(name) ?? true),
      baseUrl: null,
      accountLabel: null,
      scopes: [],
    };
  });
  return { secrets, credentials };
}

/** @param isInBody whether the value is replaced in bodies */
export const filterPlaces = (places: string[], isInBody: boolean): string[] =>
  isInBody ? places : places.filter((place) => place !== 'body' && !place.startsWith('body:'));

const SHORT_CHARS = 12;

/** Warns of a guessable value: code can make a host echo guesses of it, and see which is replaced. */
export function listWeakValueWarnings(value: string | undefined, hosts: string[]): { warnings?: string[] } {
  if (value === undefined || !hosts.length) return {};
  const guessed = 'can be guessed by code that asks the allowed hosts to echo every possible value';
  if (/^[0-9]{6}$/.test(value)) return { warnings: [`a value of six digits ${guessed}`] };
  return value.length < SHORT_CHARS ? { warnings: [`a value of fewer than ${SHORT_CHARS} characters ${guessed}`] } : {};
}
