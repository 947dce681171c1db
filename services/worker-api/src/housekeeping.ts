/** Lists all sweeps of this service. The last ones may take long. */
import { republishClosures, sweepClosures, sweepInbox } from '@gantry/events';
import { sweepIdempotencyKeys } from '@gantry/limits';
import type { ObjectStore } from '@gantry/object-store';
import { type DeleteRunRows, deleteExpiredEvents, deleteExpiredRuns } from '@gantry/run-engine';
import type { Sweep } from '@gantry/service';
import type { Pool } from 'pg';
import { sweepEmailVerifications } from './accounts/auth/email-verification';
import { sweepPasswordResets } from './accounts/auth/password-reset';
import { sweepSessions } from './accounts/auth/session-repository';
import { sweepDeviceRequests } from './accounts/devices/device-service';
import { sweepOauthGrants } from './accounts/grants/grant-repository';
import { sweepInvitations } from './accounts/invitations/invitation-repository';
import { sweepOauthClients } from './accounts/oauth/oauth-client-repository';
import { sweepOidcSignIns } from './accounts/oidc/oidc-account';
import type { SigningKeys } from './accounts/signing-keys/signing-keys';
import { sweepTokens } from './accounts/tokens/token-repository';
import { computeRestoreCutoff, purgeDeletedWorkspaces } from './accounts/workspaces/delete-workspace';
import { republishRetention } from './accounts/workspaces/workspace-retention';
import { purgeOldDeliveries } from './alerts/delivery-repository';
import { deleteApprovals } from './approvals/approval-repository';
import { deleteOldAuditRows } from './audit/audit-repository';
import { buildCandidateHasPackSql } from './candidates/candidate-repository';
import { sweepOldCandidates } from './candidates/candidate-sweeps';
import { interruptLostTurns } from './chat/end-turn';
import { sweepChatEvents } from './chat/event-repository';
import type { ConnectionDeps } from './connections/connection-deps';
import { sweepPendingAuthorizations, sweepUnfinishedConnections } from './connections/pending-authorization-repository';
import { revokeBeforePurge } from './connections/revocations';
import { buildContextHasPackSql } from './contexts/context-repository';
import { sweepPacks } from './file-trees/tree-pack';
import { sweepToolLists } from './mcp-client/tool-list-repository';
import { sweepModelCalls } from './models/model-call-repository';
import { expireRepairs } from './repairs/expire-repairs';
import type { RepairDeps } from './repairs/repair-deps';
import { deleteShareLinks, sweepShareLinks } from './runs/share-link-repository';
import { recordMissedTokenRuns } from './runs/token-budget';
import type { SecretDeps } from './secrets/secret-deps';
import { sweepWebhookReceipts } from './starters/webhook/receive-webhook';
import { deleteTurns } from './worker-conversations/worker-conversation-repository';
import { purgeDeletedWorkers } from './workers/delete-worker';
import { buildVersionHasPackSql } from './workers/worker-queries';

const deleteRunDependents: DeleteRunRows = async (tx, runIds) => {
  await deleteApprovals(tx, runIds);
  await deleteShareLinks(tx, runIds);
  await deleteTurns(tx, runIds);
};

type SweepDeps = ConnectionDeps & RepairDeps & Pick<SecretDeps, 'keyRotation'>;

export function listSweeps(
  deps: SweepDeps,
  { signingKeys, auditRetentionDays }: { signingKeys: SigningKeys; auditRetentionDays: number },
): Sweep[] {
  const { pool, objects, engine, vault, keyRotation, retention: bounds, now, log } = deps;
  const rewrapDataKeys = async () => {
    const rewrapped = await vault.rewrap();
    if (rewrapped) log.info({ rewrapped }, 'data keys rewrapped with the current key-encryption key');
  };
  return [
    { what: 'signing keys', run: signingKeys.rotate },
    { what: 'data keys', run: rewrapDataKeys },
    { what: 'secret key rotations', run: keyRotation.finish },
    { what: 'idempotency keys', run: () => sweepIdempotencyKeys(pool) },
    { what: 'sessions', run: () => sweepSessions(pool) },
    { what: 'device requests', run: () => sweepDeviceRequests(pool) },
    { what: 'identity provider sign-ins', run: () => sweepOidcSignIns(pool) },
    { what: 'password resets', run: () => sweepPasswordResets(pool) },
    { what: 'email verifications', run: () => sweepEmailVerifications(pool) },
    { what: 'invitations', run: () => sweepInvitations(pool) },
    { what: 'OAuth client grants', run: () => sweepOauthGrants(pool) },
    { what: 'OAuth clients', run: () => sweepOauthClients(pool) },
    { what: 'tokens', run: () => sweepTokens(pool) },
    { what: 'token budgets', run: () => recordMissedTokenRuns(pool) },
    { what: 'MCP server tools', run: () => sweepToolLists(pool) },
    { what: 'model calls', run: () => sweepModelCalls(pool) },
    { what: 'chat turns', run: () => interruptLostTurns(pool, null) },
    { what: 'chat events', run: () => sweepChatEvents(pool) },
    { what: 'share links', run: () => sweepShareLinks(pool) },
    { what: 'alert deliveries', run: () => purgeOldDeliveries(pool) },
    { what: 'webhook receipts', run: () => sweepWebhookReceipts(pool) },
    { what: 'audit log', run: () => deleteOldAuditRows(pool, auditRetentionDays) },
    { what: 'pending authorizations', run: () => sweepPendingAuthorizations(pool) },
    { what: 'connections without consent', run: () => sweepUnfinishedConnections(pool) },
    { what: 'connections in deleted workspaces', run: () => revokeBeforePurge(deps, computeRestoreCutoff()) },
    { what: 'deleted workspaces', run: () => purgeDeletedWorkspaces(pool) },
    { what: 'closures', run: () => sweepClosures(pool) },
    { what: 'closures to republish', run: () => republishClosures(pool) },
    { what: 'retention settings to republish', run: () => republishRetention(pool) },
    { what: 'deleted workers', run: () => purgeDeletedWorkers({ pool, objects, engine }) },
    { what: 'candidates', run: () => sweepOldCandidates(deps) },
    { what: 'repairs', run: () => expireRepairs(deps) },
    { what: 'packs', run: () => sweepUnusedPacks(pool, objects) },
    { what: 'inbox', run: () => sweepInbox(pool) },
    { what: 'run events', run: () => deleteExpiredEvents({ pool, bounds, now }) },
    { what: 'runs', run: () => deleteExpiredRuns({ pool, objects, bounds, now, deleteWithRuns: deleteRunDependents }) },
  ];
}

export const sweepUnusedPacks = (pool: Pool, objects: ObjectStore): Promise<number> =>
  sweepPacks(pool, objects, {
    isOfVersion: [buildVersionHasPackSql, buildContextHasPackSql],
    isOfDraft: [buildCandidateHasPackSql],
  });
