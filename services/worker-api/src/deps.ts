import type { TokenHasher } from '@gantry/auth';
import type { Bus, WorkspaceClosures } from '@gantry/events';
import type { RateCount } from '@gantry/http';
import type { ObjectStore } from '@gantry/object-store';
import type { RetentionBounds, RunEngine } from '@gantry/run-engine';
import type { KeyRotation, SecretStore, Vault } from '@gantry/vault';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { DeliveryLoop } from './alerts/delivery';
import type { CandidateDecisions } from './approvals/candidate-decisions';
import type { CaseJudge } from './candidates/case-judge';
import type { McpClient } from './connections/mcp-port';
import type { EvaluationLoop } from './evaluations/evaluation';
import type { PrismaClient } from './generated/prisma/client';
import type { Mailer } from './mail/mailer';
import type { Masking } from './masking';
import type { Models } from './models/model-registry';
import type { OauthApps } from './oauth-apps';
import type { Runnables } from './runs/runnable';
import type { SurfaceUrls } from './surface-client';
import type { Manifests } from './workers/manifests';

/** Dependencies shared by the handlers and background work of workers and their runs. */
export interface Deps {
  prisma: PrismaClient;
  pool: Pool;
  bus: Bus;
  closures: WorkspaceClosures;
  engine: RunEngine;
  objects: ObjectStore;
  vault: Vault;
  secrets: SecretStore;
  keyRotation: KeyRotation;
  /** Of secrets, in what models and people are sent. */
  masking: Masking;
  /** Reads and writes the manifests of bundles. */
  manifests: Manifests;
  /** Compares what rehearsals give with what was recorded. */
  caseJudge: CaseJudge;
  runnables: Runnables;
  /** Workers' own limits of runs in a minute, counted over all replicas. */
  rates: RateCount;
  /** Webhook secrets and review links are checked with it. */
  hasher: TokenHasher;
  mailer: Mailer;
  retention: RetentionBounds;
  /** Effects of decisions about candidates. */
  candidateDecisions: CandidateDecisions;
  /** Sends alerts. */
  deliveryLoop: DeliveryLoop;
  /** Runs and judges examples. */
  evaluationLoop: EvaluationLoop;
  /** Private networks that URLs of users may lead to: see packages/safe-fetch. */
  outboundAllow: string[];
  /** OAuth clients that the operator has. */
  oauthApps: OauthApps;
  /** Models that can be asked. */
  models: Models;
  /** Undefined: MCP servers cannot be asked. */
  mcpClient: McpClient;
  /** Addresses at which other surfaces, and this one, are called on behalf of a caller. */
  surfaceUrls: SurfaceUrls;
  /** Public addresses of the worker surface and the dashboard, without a slash at the end. */
  baseUrl: string;
  dashboardUrl: string;
  /** Template of the address of a run's trace; undefined: the operator has set none. */
  traceUrlTemplate: string | undefined;
  now: () => Date;
  log: Logger;
}
