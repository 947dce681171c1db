/**
 * The session of this browser. The access token lives in memory only; the session cookie, which scripts can't read,
 * gets a new one after a reload. That cookie is rotated by each use, and using an old one again ends the session but
 * for some seconds, in which an answer may have got lost; so a tab refreshes once at a time and, by a lock, no two
 * tabs at once.
 */
import { createClients } from '@gantry/sdk';
import { useSyncExternalStore } from 'react';
import { workspaceChoice } from './workspace-choice';

export interface Session {
  /** `unknown` until the cookie has been tried. */
  status: 'unknown' | 'anonymous' | 'signed-in';
  email: string | null;
}

export class SignInError extends Error {}

/** A token is renewed this long before it expires, so that none expires in transit. */
const EARLY_MS = 60_000;
const LOCK = 'gantry-session';
const SIGNED_OUT = 'signed-out';

let state: Session = { status: 'unknown', email: null };
let accessToken: { value: string; renewAt: number } | null = null;
let renewing: Promise<string | null> | null = null;
const listeners = new Set<() => void>();
const otherTabs = new BroadcastChannel(LOCK);
otherTabs.onmessage = ({ data }) => data === SIGNED_OUT && becomeAnonymous();

function change(next: Session): void {
  state = next;
  for (const listener of listeners) listener();
}

function becomeAnonymous(): void {
  accessToken = null;
  change({ status: 'anonymous', email: null });
}

/** This origin serves `/auth/*` too, so that the cookie stays on it. */
const { worker: auth } = createClients({ retry: false });

export interface Granted {
  access_token: string;
  /** Seconds. */
  expires_in: number;
}

async function accept(granted: Granted): Promise<string> {
  accessToken = { value: granted.access_token, renewAt: Date.now() + granted.expires_in * 1_000 - EARLY_MS };
  if (state.status !== 'signed-in') change({ status: 'signed-in', email: await ownEmail(granted.access_token) });
  return granted.access_token;
}

/** Fetches the e-mail address for the header; a failure is ignored. */
async function ownEmail(token: string): Promise<string | null> {
  const me = await auth.GET('/auth/me', { headers: { Authorization: `Bearer ${token}` } }).catch(() => null);
  if (me?.data) workspaceChoice.keepIfOneOf(me.data.workspaces.map(({ id }) => id));
  return me?.data?.email ?? null;
}

async function refresh(): Promise<string | null> {
  const { data, response } = await auth.POST('/auth/refresh');
  if (data) return accept(data);
  if (response.status === 400 || response.status === 401 || response.status === 403) {
    becomeAnonymous();
    return null;
  }
  throw new Error(`Your session could not be renewed (the server answered ${response.status}).`);
}

/** `navigator.locks` exists on https and localhost only; elsewhere only requests of one tab are serialized. */
const alone = <T>(work: () => Promise<T>): Promise<T> =>
  navigator.locks ? (navigator.locks.request(LOCK, work) as Promise<T>) : work();

export const session = {
  current: (): Session => state,

  subscribe(listener: () => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },

  /**
   * Tries the cookie, and once more where the response was lost, as when a loading page is reloaded. A server
   * that can't be reached leaves the visitor anonymous: a public page may still work.
   */
  async start(): Promise<void> {
    await this.renew()
      .catch(() => this.renew())
      .catch(becomeAnonymous);
  },

  /** @returns null for a visitor who is not signed in */
  async token(): Promise<string | null> {
    if (state.status === 'anonymous') return null;
    if (accessToken && Date.now() < accessToken.renewAt) return accessToken.value;
    return this.renew();
  },

  renew(): Promise<string | null> {
    renewing ??= alone(refresh).finally(() => {
      renewing = null;
    });
    return renewing;
  },

  /** @throws SignInError with a message for the user */
  async signIn(email: string, password: string): Promise<void> {
    const answer = await auth.POST('/auth/login', { body: { email, password } }).catch(() => null);
    if (!answer?.data) throw new SignInError(refusal(answer?.response));
    await accept(answer.data);
  },

  /** Stores the new session that a registration, a password reset or a password change returned. */
  async adopt(granted: Granted): Promise<void> {
    await accept(granted);
  },

  async signOut(): Promise<void> {
    await alone(() => auth.POST('/auth/logout')).catch(() => null);
    this.ended();
  },

  /** Handles a session that the server has ended. */
  ended(): void {
    workspaceChoice.choose(null);
    becomeAnonymous();
    otherTabs.postMessage(SIGNED_OUT);
  },
};

function refusal(response: Response | undefined): string {
  if (!response) return 'Gantry can’t be reached. Check your connection, then sign in again.';
  if (response.status === 429) {
    const seconds = Number(response.headers.get('Retry-After')) || 60;
    return `Too many attempts. Wait ${seconds} seconds, then sign in again.`;
  }
  if (response.status < 500) return 'No account has this e-mail and password. Check both, then sign in again.';
  return 'Gantry could not check your password just now. Sign in again in a moment.';
}

export const useSession = (): Session => useSyncExternalStore(session.subscribe, session.current);
