import { type Authenticate, type AuthenticatorOptions, accountTokenPrefixes, createAuthenticator } from '@gantry/auth';
import { AppError } from '@gantry/http';

/**
 * As everywhere, and with the keys of this surface. A session cookie that has ended travels with a browser for days: where
 * nobody needs to sign in, it counts as none.
 */
export function skillsAuthenticator(options: Omit<AuthenticatorOptions, 'tokenPrefixes'>): Authenticate {
  const authenticate = createAuthenticator({ ...options, tokenPrefixes: [...accountTokenPrefixes, 'rly_'] });
  return async (req) => {
    try {
      return await authenticate(req);
    } catch (err) {
      const explicit = req.get('authorization') !== undefined || req.get('x-svc-token') !== undefined;
      const ended = err instanceof AppError && err.kind === 'unauthorized' && !explicit;
      if (ended && req.operation?.access === 'optional') return null;
      throw err;
    }
  };
}
