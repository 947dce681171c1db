/**
 * Connects to the configured OpenID Connect provider; its endpoints and keys are discovered on first use and cached.
 */
import { unavailable } from '@gantry/errors';
import * as client from 'openid-client';

export interface OidcSettings {
  issuer: string;
  clientId: string;
  clientSecret: string;
  scopes: string;
  /** Its name on the sign-in page. */
  name: string;
  /** Sign-up policy for people without an account: only invited ones, or every person known to the provider. */
  signUp: 'invited' | 'anyone';
}

export interface OidcProfile {
  issuer: string;
  subject: string;
  /** Null if the provider gives none. */
  email: string | null;
  emailVerified: boolean;
  name: string | null;
}

export interface AuthorizationRedirect {
  url: URL;
  state: string;
  nonce: string;
  codeVerifier: string;
}

export type IdentityProvider = ReturnType<typeof createIdentityProvider>;

const TIMEOUT_SECONDS = 5;

export function createIdentityProvider(settings: OidcSettings) {
  const { issuer, clientId, clientSecret, scopes } = settings;
  let discovered: Promise<client.Configuration> | undefined;

  /** A failure is not cached: the provider may be back at the next sign-in. */
  function discoverConfiguration(): Promise<client.Configuration> {
    const isPlain = new URL(issuer).protocol === 'http:';
    discovered ??= client
      .discovery(new URL(issuer), clientId, clientSecret, undefined, {
        timeout: TIMEOUT_SECONDS,
        // An operator who configures http:// means a provider on a trusted network.
        ...(isPlain && { execute: [client.allowInsecureRequests] }),
      })
      .catch((err) => {
        discovered = undefined;
        throw unavailable('the identity provider', err);
      });
    return discovered;
  }

  return {
    /** Builds the redirect for the browser, and the state to keep until it returns. @throws AppError 503 */
    depart: async (redirectUri: string): Promise<AuthorizationRedirect> => {
      const codeVerifier = client.randomPKCECodeVerifier();
      const state = client.randomState();
      const nonce = client.randomNonce();
      const url = client.buildAuthorizationUrl(await discoverConfiguration(), {
        redirect_uri: redirectUri,
        scope: scopes,
        code_challenge: await client.calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: 'S256',
        state,
        nonce,
      });
      return { url, state, nonce, codeVerifier };
    },
    /**
     * Returns the person who came back.
     * @throws for an invalid response: state, nonce, code, signature, issuer, audience, time
     */
    arrive: async (
      currentUrl: URL,
      { state, nonce, codeVerifier }: { state: string; nonce: string; codeVerifier: string },
    ): Promise<OidcProfile> => {
      const config = await discoverConfiguration();
      const tokens = await client.authorizationCodeGrant(config, currentUrl, {
        pkceCodeVerifier: codeVerifier,
        expectedState: state,
        expectedNonce: nonce,
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (!claims) throw new Error('the identity provider did not return an ID token');
      // Many providers include the email address only in the userinfo response.
      const more = claims.email ? claims : await client.fetchUserInfo(config, tokens.access_token, claims.sub);
      return {
        issuer: claims.iss,
        subject: claims.sub,
        email: typeof more.email === 'string' ? more.email : null,
        emailVerified: more.email_verified === true,
        name: typeof more.name === 'string' ? more.name.slice(0, 100) : null,
      };
    },
  };
}
