import { remoteAuthEnv } from '@gantry/auth';
import { commonEnv } from '@gantry/http';
import { z } from 'zod';

export const envSchema = z.object({ ...commonEnv, ...remoteAuthEnv });
