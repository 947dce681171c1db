import { defineConfig } from 'prisma/config';
import { buildPrismaConfig, RUN_ENGINE } from '../../prisma-config';

export default defineConfig(buildPrismaConfig([...RUN_ENGINE, 'public.pack_intents', 'public.audit_log']));
