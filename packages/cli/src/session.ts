/** The context of a command: shared options, the server and the account. */
import { createGantry, type Gantry, unwrap } from '@gantry/sdk';
import { readConfig, resolveTarget, type Target, type TargetOptions } from './config';
import { findCredential, getCredentialsFile } from './credentials';
import { CommandError, EXIT } from './errors';
import { fetchFromGantry } from './gantry-fetch';
import { createOutput, type OutputOptions } from './output';
import { createPrompts } from './prompts';

export interface GlobalOptions extends OutputOptions, TargetOptions {
  yes?: boolean;
  input?: boolean;
}

export type Session = ReturnType<typeof createSession>;

export function createSession(options: GlobalOptions) {
  let cached: Target | undefined;
  /** @throws CommandError */
  function target(): Target {
    cached ??= resolveTarget(readConfig(), options);
    return cached;
  }
  return {
    options,
    output: createOutput(options),
    prompts: createPrompts(options),
    target,
    /** With the token of the account. @throws CommandError with exit code 4 where there is none */
    gantry: () => connect(target(), {}),
    /** The same, in no workspace of the profile: the account may not be a member of it any more. */
    connectAccount: () => connect({ ...target(), workspaceId: undefined }, {}),
    /** The same as `gantry`, with the addresses of the other two surfaces, which the worker surface knows. */
    async connectAll() {
      const { dashboard_url: dashboardUrl, skills_url: skillsUrl } = await unwrap(
        connectAnonymously(target()).worker.GET('/api/system/platform-config'),
      );
      return { ...connect(target(), { dashboardUrl, skillsUrl }), dashboardUrl };
    },
  };
}

function connect(target: Target, surfaces: { dashboardUrl?: string; skillsUrl?: string }): Gantry {
  const token = process.env.GANTRY_TOKEN || findCredential(target.profile, target.url)?.token;
  if (!token) {
    throw new CommandError(`not signed in to ${target.url}`, EXIT.signedOut, 'Sign in: gantry login');
  }
  if (/[^!-~]/.test(token.trim())) {
    const source = process.env.GANTRY_TOKEN ? 'GANTRY_TOKEN' : getCredentialsFile();
    const hint = 'Copy the whole token, or sign in: gantry login';
    throw new CommandError(`the token in ${source} contains a space or line break`, EXIT.signedOut, hint);
  }
  return createGantry({
    baseUrl: target.url,
    ...surfaces,
    token,
    fetch: fetchFromGantry,
    ...(target.workspaceId !== undefined && { workspaceId: target.workspaceId }),
  });
}

export const connectAnonymously = ({ url }: Pick<Target, 'url'>): Gantry =>
  createGantry({ baseUrl: url, fetch: fetchFromGantry });

/** A token that is not stored yet. */
export const connectWithToken = (url: string, token: string): Gantry =>
  createGantry({ baseUrl: url, token, fetch: fetchFromGantry });
