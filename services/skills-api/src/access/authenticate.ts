import { type Authenticate, type AuthenticatorOptions, accountTokenPrefixes, createAuthenticator } from '@gantry/auth';
import { AppError } from '@gantry/errors';

/**
 * Authenticates as the other services do, and accepts the API keys of this surface. Browsers send an expired session
 * cookie for days: where sign-in is optional, it is ignored.
 */
export function createSkillsAuthenticator(options: Omit<AuthenticatorOptions, 'tokenPrefixes'>): Authenticate {
  const authenticate = createAuthenticator({ ...options, tokenPrefixes: [...accountTokenPrefixes, 'rly_'] });
  return async (req) => {
    try {
      return await authenticate(req);
    } catch (err) {
      const hasExplicitCredential = req.get('authorization') !== undefined || req.get('x-svc-token') !== undefined;
      const isSessionEnded = err instanceof AppError && err.kind === 'unauthorized' && !hasExplicitCredential;
      if (isSessionEnded && req.operation?.access === 'optional') return null;
      throw err;
    }
  };
}
