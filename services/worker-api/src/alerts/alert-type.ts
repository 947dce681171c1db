import type { SurfaceSchemas } from '@gantry/openapi';

/** The events that alerts can be about. */
export type AlertType = SurfaceSchemas<'worker'>['AlertType'];
