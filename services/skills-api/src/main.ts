import path from 'node:path';
import { runService } from '@gantry/service';
import { envSchema } from './env';
import { startSkillsApi } from './skills-api';

runService({
  name: 'skills-api',
  dir: path.dirname(__dirname),
  errorShape: 'error',
  envSchema,
  start: startSkillsApi,
});
