/**
 * The session of this browser. The access token lives in memory only; the session cookie, which scripts can't read,
 * gets a new one after a reload. That cookie is rotated by each use, and using an old one again ends the session but
 * for some seconds, in which an answer may have got lost; so a tab refreshes once at a time and, by a lock, no two
 * tabs at once.
 */
import { createClients } from '@gantry/sdk';
import { createStore } from '../ui/store';
import { workspaceSelection } from './workspace-selection';

export interface Session {
  /** `unknown` until the cookie has been tried. */
  status: 'unknown' | 'anonymous' | 'signed-in';
  email: string | null;
}

/** A token is renewed this long before it expires, so that none expires in transit. */
const RENEW_EARLY_MS = 60_000;
const LOCK_NAME = 'gantry-session';
const SIGNED_OUT = 'signed-out';

const state = createStore<Session>({ status: 'unknown', email: null });
let accessToken: { value: string; renewAt: number } | null = null;
let pendingRefresh: Promise<string | null> | null = null;
const otherTabs = new BroadcastChannel(LOCK_NAME);
otherTabs.onmessage = ({ data }) => data === SIGNED_OUT && clearSession();

function clearSession(): void {
  accessToken = null;
  state.set({ status: 'anonymous', email: null });
}

/** This origin serves `/auth/*` too, so that the cookie stays on it. */
const { worker: auth } = createClients({ retry: false });

export interface SessionTokens {
  access_token: string;
  /** Seconds. */
  expires_in: number;
}

async function storeTokens(tokens: SessionTokens): Promise<string> {
  accessToken = { value: tokens.access_token, renewAt: Date.now() + tokens.expires_in * 1_000 - RENEW_EARLY_MS };
  if (state.get().status !== 'signed-in')
    state.set({ status: 'signed-in', email: await fetchOwnEmail(tokens.access_token) });
  return tokens.access_token;
}

/** Fetches the email address for the header; a failure is ignored. */
async function fetchOwnEmail(token: string): Promise<string | null> {
  const me = await auth.GET('/auth/me', { headers: { Authorization: `Bearer ${token}` } }).catch(() => null);
  if (me?.data) workspaceSelection.resetUnlessMember(me.data.workspaces.map(({ id }) => id));
  return me?.data?.email ?? null;
}

async function refreshTokens(): Promise<string | null> {
  const { data, response } = await auth.POST('/auth/refresh');
  if (data) return storeTokens(data);
  if (response.status === 400 || response.status === 401 || response.status === 403) {
    clearSession();
    return null;
  }
  throw new Error(`Your session couldn’t be renewed (HTTP ${response.status}). Reload the page to try again.`);
}

/** `navigator.locks` exists on https and localhost only; elsewhere only requests of one tab are serialized. */
const withSessionLock = <T>(work: () => Promise<T>): Promise<T> =>
  navigator.locks ? (navigator.locks.request(LOCK_NAME, work) as Promise<T>) : work();

export const session = {
  current: state.get,

  /**
   * Tries the cookie, and once more where the response was lost, as when a loading page is reloaded. A server
   * that can't be reached leaves the visitor anonymous: a public page may still work.
   */
  async start(): Promise<void> {
    await this.renew()
      .catch(() => this.renew())
      .catch(clearSession);
  },

  /** @returns null for a visitor who is not signed in */
  async token(): Promise<string | null> {
    if (state.get().status === 'anonymous') return null;
    if (accessToken && Date.now() < accessToken.renewAt) return accessToken.value;
    return this.renew();
  },

  renew(): Promise<string | null> {
    pendingRefresh ??= withSessionLock(refreshTokens).finally(() => {
      pendingRefresh = null;
    });
    return pendingRefresh;
  },

  /** @throws Error with a message for the user */
  async signIn(email: string, password: string): Promise<void> {
    const result = await auth.POST('/auth/login', { body: { email, password } }).catch(() => null);
    if (!result?.data) throw new Error(describeSignInError(result?.response));
    await storeTokens(result.data);
  },

  /** Stores the new session that a registration, a password reset or a password change returned. */
  async adopt(tokens: SessionTokens): Promise<void> {
    await storeTokens(tokens);
  },

  async signOut(): Promise<void> {
    await withSessionLock(() => auth.POST('/auth/logout')).catch(() => null);
    this.handleSessionEnd();
  },

  /** Handles a session that the server has ended. */
  handleSessionEnd(): void {
    workspaceSelection.choose(null);
    clearSession();
    otherTabs.postMessage(SIGNED_OUT);
  },
};

function describeSignInError(response: Response | undefined): string {
  if (!response) return 'Couldn’t reach Gantry. Check your connection and try again.';
  if (response.status === 429) {
    const seconds = Number(response.headers.get('Retry-After')) || 60;
    return `Too many attempts. Try again in ${seconds} seconds.`;
  }
  if (response.status < 500) return 'Incorrect email or password. Check both and try again.';
  return 'Gantry couldn’t check your password. Try again in a moment.';
}

export const useSession = state.useValue;
