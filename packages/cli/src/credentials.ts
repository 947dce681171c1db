import path from 'node:path';
import { getConfigDir } from './config';
import { CommandError, EXIT } from './errors';
import { readStateFile, writeStateFile } from './state-file';

export interface Credential {
  /** The server that the token is for: it is sent to no other. */
  url: string;
  token: string;
  /** `device`: made by `gantry login`, and revoked by `gantry logout`. */
  from: 'device' | 'pasted';
}

type Credentials = Record<string, Credential>;

export const getCredentialsFile = (): string => path.join(getConfigDir(), 'credentials.json');

/** @throws CommandError for a damaged file */
export function readCredentials(): Credentials {
  try {
    return (readStateFile(getCredentialsFile()) ?? {}) as Credentials;
  } catch {
    throw new CommandError(
      `${getCredentialsFile()} is corrupted`,
      EXIT.signedOut,
      'Sign in again to replace it: gantry login',
    );
  }
}

/** @returns undefined where none is stored for this profile and this server */
export function findCredential(profile: string, url: string): Credential | undefined {
  const credential = readCredentials()[profile];
  return credential?.url === url ? credential : undefined;
}

/** A damaged file is replaced: what it held is lost already. */
export function storeCredential(profile: string, credential: Credential): void {
  let stored: Credentials = {};
  try {
    stored = readCredentials();
  } catch {
    // Replaced below.
  }
  writeStateFile(getCredentialsFile(), { ...stored, [profile]: credential });
}

export function removeCredential(profile: string): void {
  const { [profile]: _removed, ...others } = readCredentials();
  writeStateFile(getCredentialsFile(), others);
}
