import type { IdentityCache } from '@gantry/auth';
import type { Deps } from '../deps';
import type { Sessions } from './auth/session';
import type { SessionCookie } from './auth/session-cookie';
import type { Introspect } from './identity/introspection';
import type { OidcSettings } from './oidc/identity-provider';
import type { SigningKeys } from './signing-keys/signing-keys';

/** Shared by the handlers of accounts. */
export interface AccountDeps extends Deps {
  sessions: Sessions;
  sessionCookie: SessionCookie;
  identities: IdentityCache;
  introspect: Introspect;
  signingKeys: SigningKeys;
  /** Undefined: set-up is disabled. */
  setupToken: string | undefined;
  /** Undefined: nobody signs in with an identity provider. */
  oidc: OidcSettings | undefined;
  publicUrls: [string, ...string[]];
}
