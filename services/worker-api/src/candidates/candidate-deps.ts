import type { Bus } from '@gantry/events';
import type { RehearsalDeps } from '../rehearsals/rehearsal-deps';

export interface CandidateDeps extends RehearsalDeps {
  bus: Bus;
}
