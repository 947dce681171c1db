import path from 'node:path';

/** The routing and policy table of this service. */
export const OPENAPI_FILE = path.resolve(__dirname, '../../../openapi/worker.yaml');
