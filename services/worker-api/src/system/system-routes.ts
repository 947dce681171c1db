import { type Health, type Operations, ok } from '@gantry/http';
import type { OidcSettings } from '../accounts/oidc/identity-provider';
import { hasAnyUser } from '../accounts/users/user-repository';
import type { Executors } from './executors';
import { loadHealthDetails } from './health-details';
import { loadOverview } from './overview';
import type { SystemDeps } from './system-deps';
import { version } from './version';

/** Features of this version, so that clients need not try. */
const FEATURES = {
  workers: true,
  schedules: true,
  webhooks: true,
  event_triggers: true,
  durable_steps: true,
  approvals: true,
  alerts: true,
  contexts: true,
  secrets: true,
  automations: true,
  skills: true,
  audit_log: true,
  password_sign_in: true,
  agent_workers: false,
  chat: false,
  connections: false,
};

export function createSystemOperations(options: {
  deps: SystemDeps;
  health: Health;
  executors: Executors;
  skillsUrl: string;
  oidc: OidcSettings | undefined;
}): Operations<'worker'> {
  const { deps, health, executors, skillsUrl, oidc } = options;
  const { prisma, baseUrl, dashboardUrl, mailer } = deps;
  return {
    systemInfo: () =>
      ok({
        name: 'Gantry',
        version,
        features: { ...FEATURES, oidc_sign_in: oidc !== undefined, email: mailer.isConfigured },
      }),
    systemOverview: async ({ caller }) => ok(await loadOverview({ ...deps, executors }, caller)),
    healthDetails: async () => ok(await loadHealthDetails({ ...deps, health, version })),
    platformConfig: async () =>
      ok({
        base_url: baseUrl,
        dashboard_url: dashboardUrl,
        skills_url: skillsUrl,
        sign_in_methods: oidc ? ['password', 'oidc'] : ['password'],
        ...(oidc && { oidc_name: oidc.name, oidc_start_url: '/auth/oidc/start' }),
        password_reset: mailer.isConfigured ? 'email' : 'ask_admin',
        setup_required: !(await hasAnyUser(prisma)),
      }),
  };
}
