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
import { createAccessTokens } from './accounts/auth/access-token';
import { authOperations } from './accounts/auth/auth-routes';
import { passwordOperations } from './accounts/auth/password-routes';
import { createSessions } from './accounts/auth/session';
import { createSessionCookie } from './accounts/auth/session-cookie';
import { sessionOperations } from './accounts/auth/session-routes';
import { requireCredentials } from './accounts/auth/setup';
import { deviceOperations } from './accounts/devices/device-routes';
import { buildMcpChallenge } from './accounts/grants/oauth-metadata';
import { createIntrospection } from './accounts/identity/introspection';
import { invitationOperations } from './accounts/invitations/invitation-routes';
import { memberOperations } from './accounts/members/member-routes';
import { createGrantTokenIssuer } from './accounts/oauth/grant-bearer';
import { oauthOperations } from './accounts/oauth/oauth-routes';
import type { OidcSettings } from './accounts/oidc/identity-provider';
import { oidcOperations } from './accounts/oidc/oidc-routes';
import { createSigningKeys } from './accounts/signing-keys/signing-keys';
import { tokenOperations } from './accounts/tokens/token-routes';
import { workspaceOperations } from './accounts/workspaces/workspace-routes';
import type { AlertDeps } from './alerts/alert-deps';
import { alertOperations } from './alerts/alert-routes';
import type { ApprovalDeps } from './approvals/approval-deps';
import { approvalOperations } from './approvals/approval-routes';
import { reviewOperations } from './approvals/review-routes';
import { auditOperations } from './audit/audit-routes';
import type { CandidateDeps } from './candidates/candidate-deps';
import { candidateOperations } from './candidates/candidate-routes';
import type { ChangeHub } from './changes/change-hub';
import { changeOperations } from './changes/change-routes';
import type { ChatDeps } from './chat/chat-deps';
import { createChat } from './chat/chat-routes';
import type { AuthorizationDeps } from './connections/connection-deps';
import { connectionOperations } from './connections/connection-routes';
import { expireConnections } from './connections/refresh';
import type { ContextDeps } from './contexts/context-deps';
import { contextOperations } from './contexts/context-routes';
import type { EvaluationDeps } from './evaluations/evaluation-deps';
import { evaluationOperations } from './evaluations/evaluation-routes';
import type { ExampleDeps } from './examples/example-deps';
import { exampleOperations } from './examples/example-routes';
import { TREE_BYTES_MAX } from './file-trees/file-tree';
import { integrationOperations } from './integrations/integration-routes';
import { mcpOperations } from './mcp/mcp-routes';
import type { McpToolDeps } from './mcp-tools/mcp-tool-deps';
import { mcpToolOperations } from './mcp-tools/mcp-tool-routes';
import type { ModelDeps } from './models/model-deps';
import { modelOperations } from './models/model-routes';
import { modelProviderOperations } from './models/provider-routes';
import type { RepairDeps } from './repairs/repair-deps';
import { repairOperations } from './repairs/repair-routes';
import { bulkRunOperations } from './runs/bulk-runs';
import { logOperations } from './runs/log-routes';
import { requestOperations } from './runs/request-routes';
import type { RunDeps } from './runs/run-deps';
import { downloadOperations } from './runs/run-download';
import { exportOperations } from './runs/run-export';
import { runOperations } from './runs/run-routes';
import { shareLinkOperations } from './runs/share-link-routes';
import { statsOperations } from './runs/stats-routes';
import { stepOperations } from './runs/step-routes';
import { usageOperations } from './runs/usage-routes';
import type { SecretDeps } from './secrets/secret-deps';
import { secretOperations } from './secrets/secret-routes';
import type { TriggerStartDeps } from './starters/trigger-start-deps';
import { webhookOperations } from './starters/webhook/webhook-routes';
import { toCanonicalPath } from './system/canonical-path';
import type { Executors } from './system/executors';
import { createRootRouter } from './system/root-routes';
import type { SystemDeps } from './system/system-deps';
import { systemOperations } from './system/system-routes';
import { version } from './system/version';
import { checkPreview, scheduleOperations } from './triggers/cron/schedule-routes';
import type { WorkerConversationDeps } from './worker-conversations/worker-conversation-deps';
import { workerConversationOperations } from './worker-conversations/worker-conversation-routes';
import type { WorkerDeps } from './workers/worker-deps';
import { parseWorkerChange } from './workers/worker-input';
import { toNewWorker, workerOperations } from './workers/worker-routes';

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

export type WorkerApp = ReturnType<typeof createApp>;

export function createApp(options: AppOptions) {
  const { deps, setupToken, oidc, fileStore, skillsUrl } = options;
  const { pool, closures, vault, hasher, baseUrl, dashboardUrl, log } = deps;
  const { issuer, audience, externalIssuer } = options.jwt;
  const publicUrls: [string, ...string[]] = [baseUrl, dashboardUrl, skillsUrl];
  const signingKeys = createSigningKeys({ pool, vault });
  const introspect = createIntrospection({ pool, hasher, tokenUse: options.tokenUse, baseUrl });
  const verifyJwt = createJwtVerifier({ findKey: signingKeys.find, issuer, audience });
  const verifyExternalJwt = externalIssuer && createExternalJwtVerifier(externalIssuer);
  const identities = createIdentityCache(
    createIdentityResolver({ verifyJwt, introspect, ...(verifyExternalJwt && { verifyExternalJwt }) }),
  );
  const sessions = createSessions({ pool, hasher, revoked: identities.evictToken });
  const issueAccessToken = createAccessTokens({ signingKeys, issuer, audience });
  const sessionCookie = createSessionCookie({ issueAccessToken, publicUrls });
  const identifyVisitor = async (req: Request) => {
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
      ...systemOperations(options),
      ...changeOperations(options),
      ...authOperations(accounts),
      ...passwordOperations(accounts),
      ...sessionOperations(accounts),
      ...oidcOperations(accounts),
      ...deviceOperations(accounts),
      ...oauthOperations(accounts),
      ...tokenOperations(accounts),
      ...workspaceOperations(accounts),
      ...memberOperations(accounts),
      ...invitationOperations(accounts),
      ...auditOperations({ pool }),
      ...alertOperations(deps),
      ...approvalOperations(deps),
      ...reviewOperations(deps),
      ...runOperations(deps),
      ...bulkRunOperations(deps),
      ...logOperations(deps),
      ...requestOperations(deps),
      ...stepOperations(deps),
      ...downloadOperations(deps),
      ...exportOperations(deps),
      ...shareLinkOperations(deps),
      ...statsOperations(deps),
      ...usageOperations(deps),
      ...workerOperations(deps),
      ...workerConversationOperations(deps),
      ...candidateOperations(deps),
      ...repairOperations(deps),
      ...exampleOperations(deps),
      ...evaluationOperations(deps),
      ...contextOperations(deps),
      ...secretOperations(deps),
      ...connectionOperations({ ...deps, identifyVisitor }),
      ...integrationOperations({ ...deps, expireConnections }),
      ...scheduleOperations({ now: deps.now }),
      ...webhookOperations(deps),
      ...mcpToolOperations(deps),
      ...modelOperations(deps),
      ...modelProviderOperations(deps),
      ...chat.operations,
      ...mcpOperations({
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
      previewSchedule: checkPreview,
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
