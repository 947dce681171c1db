import { defineConfig } from 'prisma/config';
import { buildPrismaConfig } from '../../prisma-config';

export default defineConfig(buildPrismaConfig());
