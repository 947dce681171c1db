import type { WorkspaceClosures } from '@gantry/events';
import type { SurfaceUrls } from '@gantry/http';
import type { SecretStore } from '@gantry/vault';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { Models } from '../models/model-registry';
import type { Masking } from '../secrets/masking';

export interface ChatDeps {
  pool: Pool;
  closures: Pick<WorkspaceClosures, 'has'>;
  models: Models;
  /** Their values are masked in everything that is sent to models. */
  secrets: Pick<SecretStore, 'valuesOf'>;
  masking: Masking;
  /** Base URLs at which tools call the three surfaces. */
  surfaceUrls: SurfaceUrls;
  /** For links in answers. */
  dashboardUrl: string;
  now: () => Date;
  log: Logger;
}
