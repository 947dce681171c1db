/**
 * Pairing a program with an account (RFC 8628).
 *
 * The program holds a device code of 256 bits, the person a short user code. A request lives for ten minutes, is
 * decided once, and yields one token once. Five wrong user codes with the right device code end it; a person who types
 * five unknown user codes must wait.
 */

import { createOpaqueToken, isSameSecret } from '@gantry/auth';
import { AppError, forbidden, gone, notFound } from '@gantry/errors';
import { newId } from '@gantry/events';
import type { Requester } from '@gantry/http';
import type { Principal } from '@gantry/limits';
import { transaction } from '@gantry/postgres';
import type { Pool } from 'pg';
import { recordChange } from '../../audit/audit-entry';
import type { DeviceRequest, PrismaClient, User } from '../../generated/prisma/client';
import type { AccountDeps } from '../account-deps';
import type { ClientInfo } from '../auth/session';
import { getSignedInUserId } from '../identity/caller-user';
import { insertPersonalToken } from '../tokens/token-service';
import { generateUserCode, normaliseUserCode } from './user-code';

export const LIFETIME_SECONDS = 600;
export const INTERVAL_SECONDS = 2;
/** Tolerates network jitter for a program that polls every two seconds by its own clock. */
const POLL_INTERVAL_MS_MIN = INTERVAL_SECONDS * 1_000 - 200;
const WRONG_CODES_MAX = 5;
const GUESS_WINDOW_SECONDS = 600;

export async function startDeviceAuthorization(
  { prisma, hasher }: AccountDeps,
  clientName: string | undefined,
  client: ClientInfo,
): Promise<{ deviceCode: string; userCode: string }> {
  const deviceCode = createOpaqueToken('dev_');
  const userCode = await generateUnusedUserCode(prisma);
  await prisma.deviceRequest.create({
    data: {
      id: newId('dev_'),
      deviceHash: hasher.hash(deviceCode).hash,
      userCode,
      clientName: clientName?.trim() ?? null,
      ...client,
      expiresAt: new Date(Date.now() + LIFETIME_SECONDS * 1_000),
    },
  });
  return { deviceCode, userCode };
}

/** Codes of finished requests are kept for a day and could collide. */
async function generateUnusedUserCode(prisma: PrismaClient): Promise<string> {
  for (;;) {
    const userCode = generateUserCode();
    if (!(await prisma.deviceRequest.count({ where: { userCode } }))) return userCode;
  }
}

/** @throws AppError 403 for a token, 404, 429 after five unknown codes */
export async function getPendingDeviceRequest(
  prisma: PrismaClient,
  caller: Principal,
  typedCode: string,
): Promise<DeviceRequest> {
  const userId = getSignedInUserId(caller);
  const since = new Date(Date.now() - GUESS_WINDOW_SECONDS * 1_000);
  const guesses = await prisma.deviceGuess.findMany({
    where: { userId, createdAt: { gt: since } },
    orderBy: { createdAt: 'asc' },
    take: WRONG_CODES_MAX,
  });
  const [first] = guesses;
  if (first && guesses.length >= WRONG_CODES_MAX) {
    const retryAfterSeconds = Math.ceil((first.createdAt.getTime() - since.getTime()) / 1_000) || 1;
    throw new AppError(
      'rate_limited',
      'too_many_codes',
      `user_code: ${WRONG_CODES_MAX} unknown codes were entered; try again in ${retryAfterSeconds} s`,
      { retryAfterSeconds },
    );
  }
  const userCode = normaliseUserCode(typedCode);
  const request = await prisma.deviceRequest.findFirst({ where: { userCode, ...buildPendingRequestFilter() } });
  if (request) return request;
  await prisma.deviceGuess.create({ data: { id: newId('gss_'), userId } });
  throw notFound('device request with the code', userCode, 'is pending');
}

/** @throws AppError like getPendingDeviceRequest, and 404 if it was decided a moment ago */
export async function decideDeviceRequest(
  prisma: PrismaClient,
  { caller, actor }: Requester,
  typedCode: string,
  status: 'approved' | 'denied',
): Promise<void> {
  const { workspaceId } = caller;
  const userId = getSignedInUserId(caller);
  const { id, userCode, clientName, address } = await getPendingDeviceRequest(prisma, caller, typedCode);
  await transaction(prisma, async (tx) => {
    const { count } = await tx.deviceRequest.updateMany({
      where: { id, ...buildPendingRequestFilter() },
      data: { status, decidedBy: userId, workspaceId },
    });
    if (!count) throw notFound('device request with the code', userCode, 'is pending');
    await recordChange(tx, actor, `device.${status}`, { workspaceId, id }, { client_name: clientName, address });
  });
}

export interface DeviceToken {
  token: string;
  workspaceId: string;
  user: User;
}

/**
 * Exchanges an approved request for its token, once.
 * @param typedCode null for the older poll route, which does not ask for it
 * @throws AppError 400 a wrong user code, 403 denied, 404 unknown, 410 expired or spent, 428 not decided, 429 too fast
 */
export async function exchangeDeviceCode(
  { prisma, hasher }: AccountDeps,
  deviceCode: string,
  typedCode: string | null,
  client: ClientInfo,
): Promise<DeviceToken> {
  const request = await prisma.deviceRequest.findFirst({
    where: { deviceHash: { in: hasher.candidatesForPrefix('dev_', deviceCode) } },
    include: { user: true },
  });
  if (!request || !hasher.matches(deviceCode, request.deviceHash)) {
    throw new AppError('not_found', 'unknown_device', 'device_code: unknown; start again');
  }
  const { id, status, user, workspaceId } = request;
  const isOver = request.spentAt !== null || request.expiresAt.getTime() <= Date.now();
  if (isOver || request.wrongCodes >= WRONG_CODES_MAX) throw createDeviceRequestExpiredError();
  if (typedCode !== null && !isSameSecret(normaliseUserCode(typedCode), request.userCode)) {
    await prisma.deviceRequest.update({ where: { id }, data: { wrongCodes: { increment: 1 } } });
    throw new AppError('invalid', 'wrong_user_code', 'user_code: does not match this device_code');
  }
  await enforcePollInterval(prisma, request);
  if (status === 'denied') throw forbidden('access_denied', 'the request was denied');
  if (status === 'pending' || !workspaceId || !user) {
    throw new AppError('precondition', 'authorization_pending', 'authorization_pending', {
      retryAfterSeconds: INTERVAL_SECONDS,
    });
  }
  if (user.disabledAt) throw forbidden('access_denied', 'the account that approved the request is disabled');
  return transaction(prisma, async (tx) => {
    const { count } = await tx.deviceRequest.updateMany({
      where: { id, spentAt: null },
      data: { spentAt: new Date() },
    });
    if (!count) throw createDeviceRequestExpiredError();
    const name = request.clientName ?? 'paired device';
    const { created, token } = await insertPersonalToken(tx, hasher, user.id, workspaceId, name);
    await recordChange(
      tx,
      { kind: 'device', id: user.id, label: user.email, tokenId: null, ...client, requestId: null },
      'token.created',
      { workspaceId, id: created.id },
      { name, prefix: created.prefix, device: id },
    );
    return { token, workspaceId, user };
  });
}

/** Only the first of two concurrent polls gets through. */
async function enforcePollInterval(prisma: PrismaClient, { id, polledAt }: DeviceRequest): Promise<void> {
  const now = new Date();
  const { count } = await prisma.deviceRequest.updateMany({
    where: { id, OR: [{ polledAt: null }, { polledAt: { lte: new Date(now.getTime() - POLL_INTERVAL_MS_MIN) } }] },
    data: { polledAt: now },
  });
  if (count) return;
  const waitMs = (polledAt?.getTime() ?? now.getTime()) + INTERVAL_SECONDS * 1_000 - now.getTime();
  const retryAfterSeconds = Math.min(INTERVAL_SECONDS, Math.max(1, Math.ceil(waitMs / 1_000)));
  throw new AppError('rate_limited', 'slow_down', `poll every ${INTERVAL_SECONDS} s`, { retryAfterSeconds });
}

const buildPendingRequestFilter = () => ({
  status: 'pending' as const,
  spentAt: null,
  wrongCodes: { lt: WRONG_CODES_MAX },
  expiresAt: { gt: new Date() },
});

const createDeviceRequestExpiredError = () => gone('expired_token', 'this request is no longer valid; start again');

export async function sweepDeviceRequests(pool: Pool): Promise<void> {
  await pool.query("DELETE FROM device_requests WHERE expires_at < now() - interval '1 day'");
  await pool.query("DELETE FROM device_guesses WHERE created_at < now() - interval '1 day'");
}
