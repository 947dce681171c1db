// The boundaries of ARCHITECTURE.md, executable.

/** Folders of services/worker-api/src by wing. What they share lies beside them. */
const WINGS = {
  accounts: ['accounts'],
  definitions: ['workers', 'contexts', 'file-trees', 'secrets', 'triggers'],
  runs: ['runs', 'approvals'],
  starters: ['starters'],
  alerts: ['alerts'],
  audit: ['audit'],
  system: ['system'],
};

/** Which other wings a wing may import. */
const MAY_IMPORT = {
  accounts: ['audit'],
  definitions: ['audit'],
  runs: ['audit', 'definitions'],
  starters: ['definitions', 'runs'],
  alerts: ['accounts', 'audit', 'definitions', 'runs'],
  audit: [],
  system: ['accounts', 'definitions'],
};

const wingRule = (wing) => {
  const forbidden = Object.keys(WINGS).filter((other) => other !== wing && !MAY_IMPORT[wing].includes(other));
  const foldersOf = (wings) => wings.flatMap((name) => WINGS[name]).join('|');
  return {
    name: `worker-api-${wing}`,
    severity: 'error',
    from: { path: `^services/worker-api/src/(${foldersOf([wing])})/`, pathNot: '\\.test\\.ts$' },
    to: { path: `^services/worker-api/src/(${foldersOf(forbidden)})/` },
  };
};

module.exports = {
  forbidden: [
    ...Object.keys(WINGS).map(wingRule),
    {
      name: 'a-service-never-imports-another-service',
      severity: 'error',
      from: { path: '^services/([^/]+)/' },
      to: { path: '^services/', pathNot: '^services/$1/' },
    },
    {
      name: 'a-package-never-imports-a-service',
      severity: 'error',
      from: { path: '^packages/', pathNot: '^packages/testing/' },
      to: { path: '^services/' },
    },
    {
      name: 'clients-speak-http-only',
      comment: 'The dashboard knows the platform through the typed client alone.',
      severity: 'error',
      from: { path: '^packages/dashboard/' },
      to: { path: '^packages/', pathNot: '^packages/(dashboard|api-client)/' },
    },
    // The dashboard, from the ground: ui, shell, folders that pages share, pages, routes.
    {
      name: 'dashboard-ui-knows-nothing-of-the-product',
      comment: 'No API, no address, no session: components and formatting alone.',
      severity: 'error',
      from: { path: '^packages/dashboard/src/ui/' },
      to: { pathNot: '^packages/dashboard/src/ui/|/node_modules/(react|@mantine/(core|hooks))/' },
    },
    {
      name: 'dashboard-shell-stands-on-ui',
      severity: 'error',
      from: { path: '^packages/dashboard/src/shell/' },
      to: { path: '^packages/dashboard/src/', pathNot: '^packages/dashboard/src/(shell|ui)/' },
    },
    {
      name: 'dashboard-shell-has-a-private-part',
      comment: 'The frame around every page is put together by the routes.',
      severity: 'error',
      from: { path: '^packages/dashboard/src/[^/]+/', pathNot: '^packages/dashboard/src/shell/' },
      to: {
        path: '^packages/dashboard/src/shell/(frame/|(query-client|require-session|theme)\\.)',
        pathNot: '^packages/dashboard/src/shell/frame/(card-page|not-found)\\.',
      },
    },
    {
      name: 'dashboard-page-never-imports-another-page',
      comment: 'A folder beside pages/ holds what several pages share.',
      severity: 'error',
      from: { path: '^packages/dashboard/src/pages/([^/]+)/' },
      to: { path: '^packages/dashboard/src/pages/', pathNot: '^packages/dashboard/src/pages/$1/' },
    },
    {
      name: 'dashboard-only-routes-know-the-pages',
      severity: 'error',
      from: { path: '^packages/dashboard/src/', pathNot: '^packages/dashboard/src/(pages/|routes\\.)' },
      to: { path: '^packages/dashboard/src/pages/' },
    },
    {
      name: 'dashboard-pages-are-fetched-when-needed',
      severity: 'error',
      from: { path: '^packages/dashboard/src/routes\\.' },
      to: { path: '^packages/dashboard/src/pages/', dependencyTypesNot: ['dynamic-import'] },
    },
    {
      name: 'dashboard-folders-have-no-cycles',
      severity: 'error',
      scope: 'folder',
      from: { path: '^packages/dashboard/src' },
      to: { circular: true },
    },
    {
      name: 'only-executor-and-launcher-start-processes',
      severity: 'error',
      from: {
        path: '^(services|packages)/',
        pathNot: '^(services/executor|packages/(platform|testing))/|\\.test\\.tsx?$|/src/test/',
      },
      to: { path: '^(node:)?child_process$' },
    },
    {
      name: 'archive-knows-bytes-only',
      severity: 'error',
      from: { path: '^packages/archive/', pathNot: '\\.test\\.ts$' },
      to: { path: '^(services|packages)/', pathNot: '^packages/archive/' },
    },
    {
      name: 'zips-are-read-and-written-by-archive-alone',
      comment: 'The rules for hostile zips are in one place. Tests make theirs with a writer of their own.',
      severity: 'error',
      from: { path: '^(services|packages)/', pathNot: '^packages/(archive|testing)/' },
      to: { path: '(^|node_modules/)(yauzl|yazl)(/|$)' },
    },
    {
      name: 'the-protocol-knows-no-runner',
      comment:
        'Nor sandboxes and what they use. runners/runner.ts is all that the protocol and the runners know of each other.',
      severity: 'error',
      from: { path: '^services/executor/src/protocol/', pathNot: '\\.test\\.ts$' },
      to: {
        path: '^services/executor/src/(runners|sandbox|egress|store|dependencies)/',
        pathNot: '^services/executor/src/runners/runner\\.ts$',
      },
    },
    {
      name: 'a-runner-knows-no-protocol',
      severity: 'error',
      from: {
        path: '^services/executor/src/(runners|sandbox|egress|store|dependencies|transfer|untrusted)/',
        pathNot: '\\.test\\.ts$',
      },
      to: { path: '^services/executor/src/protocol/|/node_modules/nats/' },
    },
    {
      name: 'a-runner-takes-types-alone-of-the-messages',
      comment: 'What connects, publishes and asks comes from the same package.',
      severity: 'error',
      from: {
        path: '^services/executor/src/(runners|sandbox|egress|store|dependencies|transfer|untrusted)/',
        pathNot: '\\.test\\.ts$',
      },
      to: { path: '^packages/events/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'what-runners-use-knows-no-runner',
      severity: 'error',
      from: {
        path: '^services/executor/src/(sandbox|egress|store|dependencies|transfer|untrusted|host)/',
        pathNot: '\\.test\\.ts$',
      },
      to: { path: '^services/executor/src/runners/' },
    },
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'tests-stay-out-of-the-product',
      severity: 'error',
      from: { path: '^(services|packages)/', pathNot: '\\.test\\.tsx?$|^packages/testing/|/test/' },
      to: { path: '^packages/testing/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules|dist|generated' },
    // The built client is the only sign of an import of @gantry/api-client.
    exclude: { path: '^(?!packages/api-client/).*/dist/|/generated/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.boundaries.json' },
  },
};
