import { runService } from '@gantry/service';
import { envSchema } from './env';
import { startSkillsApi } from './skills-api';

runService({ name: 'skills-api', errorShape: 'error', envSchema, start: startSkillsApi });
