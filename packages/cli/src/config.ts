/** Profiles: the server and the workspace that commands talk to. Tokens are in a file of their own (credentials.ts). */
import path from 'node:path';
import envPaths from 'env-paths';
import { CommandError, usageError } from './errors';
import { readStateFile, writeStateFile } from './state-file';

export const DEFAULT_URL = 'http://localhost:8080';
const DEFAULT_PROFILE = 'default';

export interface Profile {
  /** The address of the worker surface. */
  url: string;
  /** Absent: the default of the credential. */
  workspace_id?: string;
}

export interface Config {
  current_profile: string;
  profiles: Record<string, Profile>;
}

export const getConfigDir = (): string => process.env.GANTRY_CONFIG_DIR || envPaths('gantry', { suffix: '' }).config;

export const getConfigFile = (): string => path.join(getConfigDir(), 'config.json');

export function readConfig(): Config {
  let stored: Record<string, unknown> | null;
  try {
    stored = readStateFile(getConfigFile());
  } catch {
    throw new CommandError(`${getConfigFile()} is corrupted`, 1, 'Remove it and sign in: gantry login');
  }
  const { current_profile: current = DEFAULT_PROFILE, profiles = {} } = (stored ?? {}) as Partial<Config>;
  return { current_profile: current, profiles };
}

export const writeConfig = (config: Config): void => writeStateFile(getConfigFile(), config);

/** The server, token and workspace of a command, and the source of each. */
export interface Target {
  profile: string;
  url: string;
  workspaceId: string | undefined;
  /** `environment` wins over the profile. */
  urlFrom: 'environment' | 'profile' | 'default';
}

export interface TargetOptions {
  profile?: string;
  workspace?: string;
}

/** An empty variable, as CI sets for a missing value, counts as absent. */
export const getProfileName = (config: Config, { profile }: TargetOptions): string =>
  profile ?? (process.env.GANTRY_PROFILE || config.current_profile);

/** @throws CommandError for a profile that is not there, or an address that is none */
export function resolveTarget(config: Config, options: TargetOptions): Target {
  const name = getProfileName(config, options);
  const profile = config.profiles[name];
  if (!profile && options.profile) {
    const known = Object.keys(config.profiles).join(', ') || 'none';
    throw usageError(`profile ${name} not found`, `Profiles: ${known}. To create it: gantry login --profile ${name}`);
  }
  const fromEnvironment = process.env.GANTRY_URL;
  const url = parseUrl(fromEnvironment || (profile?.url ?? DEFAULT_URL));
  // The workspace of a profile exists on the server of that profile alone.
  const isProfileServer = url === profile?.url;
  return {
    profile: name,
    url,
    workspaceId:
      options.workspace ?? (process.env.GANTRY_WORKSPACE || (isProfileServer ? profile?.workspace_id : undefined)),
    urlFrom: fromEnvironment ? 'environment' : profile ? 'profile' : 'default',
  };
}

/** @returns the origin and path without a slash at the end. @throws CommandError */
export function parseUrl(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : null;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.search || url.hash) {
    throw usageError(`${value} is not a valid server URL`, 'Use a URL such as https://gantry.example.com');
  }
  return (url.origin + url.pathname).replace(/\/$/, '');
}
