import type { z } from 'zod';
import { envSchema as automationApi } from '../../../../services/automation-api/src/env';
import { envSchema as executor } from '../../../../services/executor/src/env';
import { envSchema as skillsApi } from '../../../../services/skills-api/src/env';
import { envSchema as workerApi } from '../../../../services/worker-api/src/env';
import { gatewayEnv } from '../commands/gateway';

/** The variables that each deployed process knows. */
export const environmentSchemas: Record<string, z.ZodObject> = {
  'worker-api': workerApi,
  'automation-api': automationApi,
  'skills-api': skillsApi,
  executor,
  gateway: gatewayEnv,
};
