/** Assembles the HTTP API of the service. Nothing here listens, connects or reads the environment. */
import {
  accountTokenPrefixes,
  createAuthenticator,
  createExternalJwtVerifier,
  createIdentityCache,
  createIdentityResolver,
  createJwtVerifier,
  type ExternalIssuer,
  type LastUse,
} from '@gantry/auth';
import { createMemoryStorage, createSurface, getSurfaceDocuments, type Health, type SurfaceLimits } from '@gantry/http';
import { createStorageRoutes, type FileStore } from '@gantry/object-store';
import type { Request } from 'express';
import type { AccountDeps } from './accounts/account-deps';
import { createAccessTokenIssuer } from './accounts/auth/access-token';
import { createAuthOperations } from './accounts/auth/auth-routes';
import { createPasswordOperations } from './accounts/auth/password-routes';
import { createSessions } from './accounts/auth/session';
import { createSessionCookie } from './accounts/auth/session-cookie';
import { createSessionOperations } from './accounts/auth/session-routes';
import { requireCredentials } from './accounts/auth/setup';
import { createDeviceOperations } from './accounts/devices/device-routes';
import { buildMcpChallenge } from './accounts/grants/oauth-metadata';
import { createIntrospector } from './accounts/identity/introspection';
import { createInvitationOperations } from './accounts/invitations/invitation-routes';
import { createMemberOperations } from './accounts/members/member-routes';
import { createGrantTokenIssuer } from './accounts/oauth/grant-bearer';
import { createOauthOperations } from './accounts/oauth/oauth-routes';
import type { OidcSettings } from './accounts/oidc/identity-provider';
import { createOidcOperations } from './accounts/oidc/oidc-routes';
import { createSigningKeys } from './accounts/signing-keys/signing-keys';
import { createTokenOperations } from './accounts/tokens/token-routes';
import { createWorkspaceOperations } from './accounts/workspaces/workspace-routes';
import type { AlertDeps } from './alerts/alert-deps';
import { createAlertOperations } from './alerts/alert-routes';
import type { ApprovalDeps } from './approvals/approval-deps';
import { createApprovalOperations } from './approvals/approval-routes';
import { createReviewOperations } from './approvals/review-routes';
import { createAuditOperations } from './audit/audit-routes';
import type { CandidateDeps } from './candidates/candidate-deps';
import { createCandidateOperations } from './candidates/candidate-routes';
import type { ChangeHub } from './changes/change-hub';
import { createChangeOperations } from './changes/change-routes';
import type { ChatDeps } from './chat/chat-deps';
import { createChat } from './chat/chat-routes';
import type { AuthorizationDeps } from './connections/connection-deps';
import { createConnectionOperations } from './connections/connection-routes';
import { expireConnections } from './connections/refresh';
import type { ContextDeps } from './contexts/context-deps';
import { createContextOperations } from './contexts/context-routes';
import type { EvaluationDeps } from './evaluations/evaluation-deps';
import { createEvaluationOperations } from './evaluations/evaluation-routes';
import type { ExampleDeps } from './examples/example-deps';
import { createExampleOperations } from './examples/example-routes';
import { TREE_BYTES_MAX } from './file-trees/file-tree';
import { createIntegrationOperations } from './integrations/integration-routes';
import { createMcpOperations } from './mcp/mcp-routes';
import type { McpToolDeps } from './mcp-tools/mcp-tool-deps';
import { createMcpToolOperations } from './mcp-tools/mcp-tool-routes';
import type { ModelDeps } from './models/model-deps';
import { createModelOperations } from './models/model-routes';
import { createModelProviderOperations } from './models/provider-routes';
import type { RepairDeps } from './repairs/repair-deps';
import { createRepairOperations } from './repairs/repair-routes';
import { createBulkRunOperations } from './runs/bulk-runs';
import { createLogOperations } from './runs/log-routes';
import { createRequestOperations } from './runs/request-routes';
import type { RunDeps } from './runs/run-deps';
import { createDownloadOperations } from './runs/run-download';
import { createExportOperations } from './runs/run-export';
import { createRunOperations } from './runs/run-routes';
import { createShareLinkOperations } from './runs/share-link-routes';
import { createStatsOperations } from './runs/stats-routes';
import { createStepOperations } from './runs/step-routes';
import { createUsageOperations } from './runs/usage-routes';
import type { SecretDeps } from './secrets/secret-deps';
import { createSecretOperations } from './secrets/secret-routes';
import type { TriggerStartDeps } from './starters/trigger-start-deps';
import { createWebhookOperations } from './starters/webhook/webhook-routes';
import { toCanonicalPath } from './system/canonical-path';
import type { Executors } from './system/executors';
import { createRootRouter } from './system/root-routes';
import type { SystemDeps } from './system/system-deps';
import { createSystemOperations } from './system/system-routes';
import { version } from './system/version';
import { createScheduleOperations, parsePreviewQuery } from './triggers/cron/schedule-routes';
import type { WorkerConversationDeps } from './worker-conversations/worker-conversation-deps';
import { createWorkerConversationOperations } from './worker-conversations/worker-conversation-routes';
import type { WorkerDeps } from './workers/worker-deps';
import { parseWorkerChange } from './workers/worker-input';
import { createWorkerOperations, toNewWorker } from './workers/worker-routes';

type AccountDepName =
  | 'sessions'
  | 'sessionCookie'
  | 'identities'
  | 'introspect'
  | 'signingKeys'
  | 'setupToken'
  | 'oidc'
  | 'publicUrls';

/** Dependencies of all folders together, except those that `createApp` makes. */
export type AppDeps = Omit<AccountDeps, AccountDepName> &
  AlertDeps &
  ApprovalDeps &
  AuthorizationDeps &
  CandidateDeps &
  ChatDeps &
  ContextDeps &
  EvaluationDeps &
  ExampleDeps &
  McpToolDeps &
  ModelDeps &
  RepairDeps &
  RunDeps &
  SecretDeps &
  TriggerStartDeps &
  SystemDeps &
  WorkerConversationDeps &
  WorkerDeps;

export interface AppOptions extends SurfaceLimits {
  deps: AppDeps;
  health: Health;
  executors: Executors;
  changes: ChangeHub;
  tokenUse: LastUse;
  setupToken: string | undefined;
  skillsUrl: string;
  jwt: { issuer: string; audience: string; externalIssuer: ExternalIssuer | undefined };
  oidc: OidcSettings | undefined;
  /** Set where presigned URLs point at this service. */
  fileStore?: FileStore;
}

export function createApp(options: AppOptions) {
  const { deps, setupToken, oidc, fileStore, skillsUrl } = options;
  const { pool, closures, vault, hasher, baseUrl, dashboardUrl, log } = deps;
  const { issuer, audience, externalIssuer } = options.jwt;
  const publicUrls: [string, ...string[]] = [baseUrl, dashboardUrl, skillsUrl];
  const signingKeys = createSigningKeys({ pool, vault });
  const introspect = createIntrospector({ pool, hasher, tokenUse: options.tokenUse, baseUrl });
  const verifyJwt = createJwtVerifier({ findKey: signingKeys.find, issuer, audience });
  const verifyExternalJwt = externalIssuer && createExternalJwtVerifier(externalIssuer);
  const identities = createIdentityCache(
    createIdentityResolver({ verifyJwt, introspect, ...(verifyExternalJwt && { verifyExternalJwt }) }),
  );
  const sessions = createSessions({ pool, hasher, revoked: identities.evictToken });
  const issueAccessToken = createAccessTokenIssuer({ signingKeys, issuer, audience });
  const sessionCookie = createSessionCookie({ issueAccessToken, publicUrls });
  const identifySessionUser = async (req: Request) => {
    const cookie = sessionCookie.read(req);
    return cookie ? introspect({ kind: 'session', cookie }) : null;
  };
  const accounts: AccountDeps = {
    ...deps,
    sessions,
    sessionCookie,
    identities,
    introspect,
    signingKeys,
    setupToken,
    oidc,
    publicUrls,
  };
  const chat = createChat(deps);
  const app = createSurface({
    ...options,
    ...getSurfaceDocuments('worker', { baseUrl, dashboardUrl, skillsUrl }),
    canonicalPath: toCanonicalPath,
    operations: {
      ...options.health.operations,
      ...createSystemOperations(options),
      ...createChangeOperations(options),
      ...createAuthOperations(accounts),
      ...createPasswordOperations(accounts),
      ...createSessionOperations(accounts),
      ...createOidcOperations(accounts),
      ...createDeviceOperations(accounts),
      ...createOauthOperations(accounts),
      ...createTokenOperations(accounts),
      ...createWorkspaceOperations(accounts),
      ...createMemberOperations(accounts),
      ...createInvitationOperations(accounts),
      ...createAuditOperations({ pool }),
      ...createAlertOperations(deps),
      ...createApprovalOperations(deps),
      ...createReviewOperations(deps),
      ...createRunOperations(deps),
      ...createBulkRunOperations(deps),
      ...createLogOperations(deps),
      ...createRequestOperations(deps),
      ...createStepOperations(deps),
      ...createDownloadOperations(deps),
      ...createExportOperations(deps),
      ...createShareLinkOperations(deps),
      ...createStatsOperations(deps),
      ...createUsageOperations(deps),
      ...createWorkerOperations(deps),
      ...createWorkerConversationOperations(deps),
      ...createCandidateOperations(deps),
      ...createRepairOperations(deps),
      ...createExampleOperations(deps),
      ...createEvaluationOperations(deps),
      ...createContextOperations(deps),
      ...createSecretOperations(deps),
      ...createConnectionOperations({ ...deps, identifyVisitor: identifySessionUser }),
      ...createIntegrationOperations({ ...deps, expireConnections }),
      ...createScheduleOperations({ now: deps.now }),
      ...createWebhookOperations(deps),
      ...createMcpToolOperations(deps),
      ...createModelOperations(deps),
      ...createModelProviderOperations(deps),
      ...chat.operations,
      ...createMcpOperations({
        baseUrl,
        publicUrls,
        urls: deps.surfaceUrls,
        version,
        log,
        hasher: deps.hasher,
        bearerFor: createGrantTokenIssuer(issueAccessToken),
      }),
    },
    bodyChecks: {
      setUp: requireCredentials,
      createWorker: toNewWorker,
      updateWorker: parseWorkerChange,
      previewSchedule: parsePreviewQuery,
    },
    authenticate: createAuthenticator({
      identify: identities.identify,
      closures,
      publicUrls,
      tokenPrefixes: ({ operation }) =>
        operation?.id === 'mcp' ? [...accountTokenPrefixes, 'oat_'] : accountTokenPrefixes,
    }),
    errorShape: 'detail',
    challenge: ({ operation }, code) => (operation?.id === 'mcp' ? buildMcpChallenge(baseUrl, code) : 'Bearer'),
    pool,
    hasher,
    log,
    beside: (surface) => {
      surface.use(createRootRouter({ dashboardUrl, skillsUrl }));
      if (fileStore) surface.use(createStorageRoutes(fileStore, closures));
    },
    uploads: { storage: createMemoryStorage(TREE_BYTES_MAX), preservePath: true, defParamCharset: 'utf8' },
    corsOrigins: [dashboardUrl, skillsUrl].map((url) => new URL(url).origin),
  });
  return { app, introspect, identities, signingKeys, drainChat: chat.drain };
}
