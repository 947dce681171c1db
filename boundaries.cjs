/**
 * What may import what: the one list that .dependency-cruiser.cjs makes its rules from, that package.json files follow and
 * that ARCHITECTURE.md shows. packages/testing/src/architecture.test.ts compares the three.
 */

/** The packages that each package and service may import. Tests may use `testing` as well. */
exports.PACKAGES = {
  'packages/openapi': [],
  'packages/env': [],
  'packages/tracing': [],
  'packages/postgres': ['env'],
  'packages/events': ['env', 'postgres'],
  'packages/errors': ['postgres'],
  'packages/limits': ['errors', 'events', 'postgres'],
  'packages/http': ['env', 'errors', 'events', 'limits', 'openapi', 'postgres', 'tracing'],
  'packages/service': ['env', 'events', 'http', 'postgres', 'tracing'],
  'packages/vault': ['errors', 'events', 'postgres'],
  'packages/auth': ['errors', 'events', 'limits', 'postgres', 'vault'],
  'packages/object-store': ['env', 'errors', 'http', 'limits'],
  'packages/run-engine': ['env', 'errors', 'events', 'http', 'limits', 'object-store', 'postgres', 'tracing'],
  'packages/archive': [],
  'packages/safe-fetch': [],
  'packages/masking': [],
  'packages/thread-pool': [],
  'packages/schedule': ['errors'],
  'packages/python-dependencies': [],
  'packages/program': ['archive', 'errors', 'events', 'object-store', 'python-dependencies', 'run-engine'],
  'packages/sdk': ['openapi'],
  'packages/cli': ['archive', 'python-dependencies', 'sdk'],
  'packages/api-docs': ['openapi'],
  'packages/dashboard': ['sdk'],
  'packages/platform': ['archive', 'env', 'events', 'postgres'],
  'packages/deploy': ['env', 'events', 'platform'],
  'packages/testing': ['archive', 'auth', 'errors', 'events', 'http', 'limits', 'openapi', 'platform'],
  'services/executor': ['archive', 'env', 'events', 'masking', 'safe-fetch', 'tracing'],
  'services/skills-api': [
    ...['archive', 'auth', 'errors', 'events', 'http', 'limits', 'openapi', 'postgres', 'service'],
    ...['thread-pool', 'vault'],
  ],
  'services/automation-api': [
    ...['archive', 'auth', 'errors', 'events', 'http', 'limits', 'object-store', 'openapi', 'postgres'],
    ...['program', 'run-engine', 'schedule', 'service', 'tracing', 'vault'],
  ],
  'services/worker-api': [
    ...['archive', 'auth', 'errors', 'events', 'http', 'limits', 'masking', 'object-store', 'openapi', 'postgres'],
    ...['program', 'run-engine', 'safe-fetch', 'schedule', 'service', 'thread-pool', 'tracing', 'vault'],
  ],
};

/** Folders of services/worker-api/src by wing, and the other wings that a wing may import. */
exports.WINGS = {
  access: { folders: ['access'], mayImport: [] },
  conversation: { folders: ['conversation'], mayImport: [] },
  audit: { folders: ['audit'], mayImport: [] },
  'mcp-client': { folders: ['mcp-client'], mayImport: ['definitions'] },
  mcp: { folders: ['mcp', 'mcp-tools'], mayImport: ['access', 'audit', 'definitions'] },
  models: { folders: ['models'], mayImport: ['access', 'accounts', 'audit', 'definitions', 'runs'] },
  chat: { folders: ['chat'], mayImport: ['conversation', 'definitions', 'mcp', 'models'] },
  mail: { folders: ['mail'], mayImport: [] },
  accounts: { folders: ['accounts'], mayImport: ['access', 'audit', 'mail'] },
  definitions: {
    folders: [
      ...['workers', 'contexts', 'connections', 'connection-tools', 'integrations', 'declarations'],
      ...['file-trees', 'secrets', 'triggers'],
    ],
    mayImport: ['access', 'accounts', 'audit'],
  },
  runs: {
    folders: ['runs', 'approvals', 'worker-conversations'],
    mayImport: ['access', 'accounts', 'audit', 'conversation', 'definitions'],
  },
  trials: {
    folders: ['rehearsals', 'candidates', 'repairs', 'examples', 'evaluations'],
    mayImport: ['access', 'audit', 'definitions', 'models', 'runs'],
  },
  starters: { folders: ['starters'], mayImport: ['definitions', 'runs'] },
  alerts: { folders: ['alerts'], mayImport: ['access', 'accounts', 'audit', 'definitions', 'mail', 'runs'] },
  changes: { folders: ['changes'], mayImport: [] },
  system: { folders: ['system'], mayImport: ['accounts', 'definitions', 'runs'] },
};
