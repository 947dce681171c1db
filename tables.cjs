/**
 * Which folder owns which table: it alone reads and writes it, and exports what others need of it (ADR 70).
 * packages/testing/src/architecture/tables.test.ts finds the tables in every SQL text and every call of Prisma's
 * models.
 */

const WORKER_API = 'services/worker-api/src';
const AUTOMATION_API = 'services/automation-api/src';
const SKILLS_API = 'services/skills-api/src';

exports.TABLES = {
  'packages/events': ['outbox', 'published_events', 'inbox', 'workspace_closures'],
  'packages/limits': ['idempotency_keys', 'rate_counts'],
  'packages/run-engine': [
    ...['runs', 'run_events', 'run_events_default', 'run_artifacts', 'run_steps', 'run_streams', 'run_retention'],
    ...['dependency_locks', 'dependency_installations'],
  ],
  'packages/vault': ['secrets', 'data_keys'],

  [`${WORKER_API}/accounts`]: [
    ...['users', 'password_credentials', 'password_resets', 'email_verifications', 'sessions', 'session_cookies'],
    ...['workspaces', 'memberships', 'invitations', 'tokens', 'signing_keys', 'external_identities', 'oidc_sign_ins'],
    ...['device_requests', 'device_guesses', 'oauth_clients', 'oauth_grants', 'oauth_codes', 'oauth_tokens'],
  ],
  [`${WORKER_API}/alerts`]: ['alerts', 'alert_deliveries'],
  [`${WORKER_API}/approvals`]: ['approvals'],
  [`${WORKER_API}/audit`]: ['audit_log'],
  [`${WORKER_API}/candidates`]: ['worker_candidates', 'candidate_cases'],
  [`${WORKER_API}/chat`]: ['conversations', 'chat_turns', 'chat_parts', 'chat_events'],
  [`${WORKER_API}/connections`]: ['connections', 'connection_departures', 'connection_revocations'],
  [`${WORKER_API}/contexts`]: ['contexts', 'context_versions'],
  [`${WORKER_API}/evaluations`]: ['evaluations', 'evaluation_results'],
  [`${WORKER_API}/examples`]: ['worker_examples'],
  [`${WORKER_API}/file-trees`]: ['pack_intents'],
  [`${WORKER_API}/integrations`]: ['oauth_apps'],
  [`${WORKER_API}/mcp-client`]: ['mcp_tool_lists'],
  [`${WORKER_API}/mcp-tools`]: ['published_tools'],
  [`${WORKER_API}/models`]: ['model_calls', 'model_providers'],
  [`${WORKER_API}/repairs`]: ['repairs', 'repair_messages'],
  [`${WORKER_API}/runs`]: ['share_links', 'token_runs', 'token_spending', 'worker_day_usage', 'worker_month_costs'],
  [`${WORKER_API}/starters`]: ['webhook_receipts'],
  [`${WORKER_API}/triggers`]: ['worker_triggers'],
  [`${WORKER_API}/worker-conversations`]: ['worker_conversations', 'worker_conversation_turns'],
  [`${WORKER_API}/workers`]: ['workers', 'worker_versions', 'version_approvals', 'known_skills'],

  [`${AUTOMATION_API}/artifacts`]: ['artifacts', 'uploads'],
  [`${AUTOMATION_API}/automations`]: ['automations', 'automation_versions'],

  [`${SKILLS_API}/api-keys`]: ['api_keys'],
  [`${SKILLS_API}/libraries`]: ['libraries', 'library_skills', 'library_subscriptions'],
  [`${SKILLS_API}/people`]: ['people'],
  [`${SKILLS_API}/skills`]: [
    ...['skills', 'skill_versions', 'skill_shares', 'skill_saves', 'skill_overrides', 'skill_pins'],
  ],
};

/** Files that use tables of other folders. At most ten; one that is used no more fails the test. */
exports.EXCEPTIONS = [
  {
    files: [`${WORKER_API}/workers/triggered-workers.ts`, `${WORKER_API}/workers/standby-workers.ts`],
    tables: ['worker_triggers'],
    reason: 'Claims and webhooks read a worker with its trigger in one statement; triggers may not import workers.',
  },
  {
    files: [`${WORKER_API}/declarations/declaring-workers.ts`, `${WORKER_API}/declarations/worker-owner.ts`],
    tables: ['workers', 'worker_versions'],
    reason: 'For connections, contexts and secrets, which workers imports.',
  },
  {
    files: [`${WORKER_API}/runs/usage.ts`],
    tables: ['workers', 'worker_versions'],
    reason: 'Both lists of a month are one statement, so that they count the same runs; it joins thousands of workers.',
  },
  {
    files: [`${WORKER_API}/runs/month-cost.ts`],
    tables: ['repairs', 'model_calls'],
    reason: 'The cost of a month is one statement on the way to a run; repairs and models import runs.',
  },
  {
    files: [`${WORKER_API}/accounts/tokens/token-repository.ts`],
    tables: ['workers', 'token_spending'],
    reason: 'Everybody imports accounts, which knows no other wing: ids and sums for lists of tokens.',
  },
  {
    files: [
      `${WORKER_API}/accounts/workspaces/delete-workspace.ts`,
      `${AUTOMATION_API}/workspaces/workspace-events.ts`,
      `${SKILLS_API}/workspaces/workspace-events.ts`,
    ],
    tables: [
      ...['data_keys', 'known_skills', 'idempotency_keys', 'audit_log', 'workspace_closures', 'pack_intents'],
      ...['automation_versions', 'automations', 'artifacts', 'uploads', 'secrets'],
      ...['libraries', 'api_keys', 'skill_pins'],
    ],
    reason: 'A purge deletes what a workspace has everywhere, in one transaction; a test finds tables that it forgets.',
  },
  {
    files: [`${SKILLS_API}/skills/skill-repository.ts`],
    tables: ['library_skills'],
    reason: 'A purged skill leaves its libraries in the same transaction; libraries imports skills.',
  },
  {
    files: ['packages/platform/src/backup/database-copy.ts'],
    tables: ['runs', 'run_streams'],
    reason: 'A restored database has lost its streams; the platform imports no service package.',
  },
];
