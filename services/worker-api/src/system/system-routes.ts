import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Operations } from '@gantry/http';
import type { PrismaClient } from '../generated/prisma/client';
import { isAnyUser } from '../users/user-repository';

const { version } = JSON.parse(readFileSync(path.resolve(__dirname, '../../package.json'), 'utf8')) as {
  version: string;
};

export interface SystemDeps {
  prisma: PrismaClient;
  baseUrl: string;
  dashboardUrl: string;
  skillsUrl: string;
  /** Undefined where no identity provider is configured. */
  oidcName: string | undefined;
  sendsEmail: boolean;
}

export function systemOperations(deps: SystemDeps): Operations {
  const { prisma, baseUrl, dashboardUrl, skillsUrl, oidcName, sendsEmail } = deps;
  return {
    systemInfo: (_req, res) => {
      res.json({ name: 'Gantry', version, features: { automations: true, password_sign_in: true } });
    },
    platformConfig: async (_req, res) => {
      res.json({
        base_url: baseUrl,
        dashboard_url: dashboardUrl,
        skills_url: skillsUrl,
        sign_in_methods: oidcName === undefined ? ['password'] : ['password', 'oidc'],
        ...(oidcName !== undefined && { oidc_name: oidcName, oidc_start_url: '/auth/oidc/start' }),
        password_reset: sendsEmail ? 'email' : 'ask_admin',
        setup_required: !(await isAnyUser(prisma)),
      });
    },
  };
}
