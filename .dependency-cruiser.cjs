// The boundaries of ARCHITECTURE.md, executable.

const { PACKAGES, WINGS } = require('./boundaries.cjs');

const TESTS = '\\.test\\.tsx?$|/src/test/|/kubernetes/cluster/';

/** Files that put the folders of a service together. */
const WIRING = '/(app|env|housekeeping|main|event-handlers|(worker|automation|skills)-api)\\.ts$';

const nameOf = (folder) => folder.replace('/', '-');

/** @param also further folders, as patterns */
const outsideOf = (folder, also) => ({
  path: '^(services|packages)/',
  pathNot: `^(${[folder, ...PACKAGES[folder].map((name) => `packages/${name}`), ...also].join('|')})(/|$)`,
});

const ALSO = {
  // The editor checks code with the types that the sandbox has.
  'packages/dashboard': ['services/executor/python/gantry/__init__\\.pyi'],
};

const ONLY_IN_TESTS = {
  // The suites over the whole platform start services as those' own tests do.
  'packages/testing': ['services/[^/]+/src/test'],
  // What is deployed sets variables that the services know.
  'packages/deploy': ['packages/testing', 'services/[^/]+/src/env\\.ts', 'services/executor/src/sandbox/seccomp\\.ts'],
};

const packageRules = (folder) => [
  {
    name: `${nameOf(folder)}-imports-what-it-may`,
    from: { path: `^${folder}/`, pathNot: TESTS },
    to: outsideOf(folder, ALSO[folder] ?? []),
  },
  {
    name: `tests-of-${nameOf(folder)}-import-what-they-may`,
    from: { path: `^${folder}/.*(${TESTS})` },
    to: outsideOf(folder, ONLY_IN_TESTS[folder] ?? ['packages/testing']),
  },
];

const foldersOf = (wings) => wings.flatMap((name) => WINGS[name].folders).join('|');

const wingRule = ([wing, { mayImport }]) => ({
  name: `worker-api-${wing}`,
  from: { path: `^services/worker-api/src/(${foldersOf([wing])})/`, pathNot: TESTS },
  to: {
    path: '^services/worker-api/src/[^/]+/',
    pathNot: `^services/worker-api/src/(${foldersOf([wing, ...mayImport])}|generated)/`,
  },
});

module.exports = {
  forbidden: [
    ...Object.keys(PACKAGES).flatMap(packageRules),
    ...Object.entries(WINGS).map(wingRule),
    {
      name: 'not-listed-in-boundaries',
      comment: 'A new package or service says in boundaries.cjs what it may import.',
      from: { path: '^(services|packages)/', pathNot: `^(${Object.keys(PACKAGES).join('|')})/|^services/gateway/` },
      to: { path: '^(services|packages)/' },
    },
    {
      name: 'shared-files-of-a-service-know-no-folder',
      comment:
        'What lies beside the folders is either shared by them, or puts them together and is named here. Types of a folder are all that the shared ones may take.',
      from: {
        path: '^services/(worker|automation|skills)-api/src/[^/]+\\.ts$',
        pathNot: `${WIRING}|${TESTS}`,
      },
      to: {
        path: '^services/[^/]+/src/[^/]+/',
        pathNot: '/generated/',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'shared-files-of-worker-api-take-no-types-of-folders',
      comment:
        'Each folder declares the dependencies of its code (ADR 68). A shared file with types of folders would connect every folder that imports it to all of those.',
      from: { path: '^services/worker-api/src/[^/]+\\.ts$', pathNot: `${WIRING}|${TESTS}` },
      to: {
        path: '^services/worker-api/src/[^/]+/',
        pathNot: '/generated/',
        dependencyTypes: ['type-only'],
      },
    },
    {
      name: 'folders-of-a-service-know-no-wiring',
      from: { path: '^services/(worker|automation|skills)-api/src/[^/]+/', pathNot: TESTS },
      to: { path: `^services/[^/]+/src${WIRING}` },
    },
    // The dashboard, from the ground: ui, shell, folders that pages share, pages, routes.
    {
      name: 'dashboard-ui-knows-nothing-of-the-product',
      comment: 'No API, no address, no session: components and formatting alone.',
      from: { path: '^packages/dashboard/src/ui/' },
      to: {
        pathNot: '^packages/dashboard/src/ui/|/node_modules/(react|@mantine/(core|hooks))/|@tanstack/react-table($|/)',
      },
    },
    {
      name: 'dashboard-shell-stands-on-ui',
      from: { path: '^packages/dashboard/src/shell/' },
      to: { path: '^packages/dashboard/src/', pathNot: '^packages/dashboard/src/(shell|ui)/' },
    },
    {
      name: 'dashboard-shell-has-a-private-part',
      comment: 'The frame around every page is put together by the routes.',
      from: { path: '^packages/dashboard/src/[^/]+/', pathNot: '^packages/dashboard/src/shell/' },
      to: {
        path: '^packages/dashboard/src/shell/(frame/|(query-client|require-session|theme)\\.)',
        pathNot: '^packages/dashboard/src/shell/frame/(card-page|not-found)\\.',
      },
    },
    {
      name: 'dashboard-page-never-imports-another-page',
      comment: 'A folder beside pages/ holds what several pages share.',
      from: { path: '^packages/dashboard/src/pages/([^/]+)/' },
      to: { path: '^packages/dashboard/src/pages/', pathNot: '^packages/dashboard/src/pages/$1/' },
    },
    {
      name: 'dashboard-only-routes-know-the-pages',
      from: { path: '^packages/dashboard/src/', pathNot: '^packages/dashboard/src/(pages/|routes\\.)' },
      to: { path: '^packages/dashboard/src/pages/' },
    },
    {
      name: 'dashboard-pages-are-fetched-when-needed',
      from: { path: '^packages/dashboard/src/routes\\.' },
      to: { path: '^packages/dashboard/src/pages/', dependencyTypesNot: ['dynamic-import'] },
    },
    {
      name: 'only-executor-and-launcher-start-processes',
      comment:
        'And the command line a browser, and code of workers, on the machine of the person who runs it; and its build, for the code caches.',
      from: {
        path: '^(services|packages)/',
        pathNot:
          '^(services/executor|packages/(deploy|platform|testing))/|^packages/cli/(build\\.mjs$|src/browser\\.ts$|src/local-run/)|\\.test\\.tsx?$|/src/test/',
      },
      to: { path: '^(node:)?child_process$' },
    },
    {
      name: 'only-live-streams-of-the-engine-know-express',
      comment: 'The rest of the engine runs code for whichever protocol requests it.',
      from: { path: '^packages/run-engine/src/', pathNot: `^packages/run-engine/src/live/|${TESTS}` },
      to: { path: '(^|node_modules/)(@types/)?express(/|$)' },
    },
    {
      name: 'zips-are-read-and-written-by-archive-alone',
      comment: 'The rules for hostile zips are in one place. Tests make theirs with a writer of their own.',
      from: { path: '^(services|packages)/', pathNot: '^packages/(archive|testing)/' },
      to: { path: '(^|node_modules/)(yauzl|yazl)(/|$)' },
    },
    {
      name: 'the-protocol-knows-no-runner',
      comment:
        'Nor sandboxes and what they use. runners/runner.ts is all that the protocol and the runners know of each other.',
      from: { path: '^services/executor/src/protocol/', pathNot: '\\.test\\.ts$' },
      to: {
        path: '^services/executor/src/(runners|sandbox|egress|store|dependencies)/',
        pathNot: '^services/executor/src/runners/runner\\.ts$',
      },
    },
    {
      name: 'a-runner-knows-no-protocol',
      from: {
        path: '^services/executor/src/(runners|sandbox|egress|store|dependencies|masking|transfer|untrusted)/',
        pathNot: '\\.test\\.ts$',
      },
      to: { path: '^services/executor/src/protocol/|/node_modules/nats/' },
    },
    {
      name: 'a-runner-takes-types-alone-of-the-messages',
      comment: 'What connects, publishes and asks comes from the same package.',
      from: {
        path: '^services/executor/src/(runners|sandbox|egress|store|dependencies|masking|transfer|untrusted)/',
        pathNot: '\\.test\\.ts$',
      },
      to: { path: '^packages/events/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'what-runners-use-knows-no-runner',
      from: {
        path: '^services/executor/src/(sandbox|egress|store|dependencies|masking|transfer|untrusted|host)/',
        pathNot: '\\.test\\.ts$',
      },
      to: { path: '^services/executor/src/runners/' },
    },
    { name: 'no-cycles', from: {}, to: { circular: true } },
  ].map((rule) => ({ severity: 'error', ...rule })),
  options: {
    doNotFollow: { path: 'node_modules|dist|generated' },
    // The built client is the only sign of an import of @gantry/sdk.
    exclude: { path: '^(?!packages/sdk/).*/dist/|/generated/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.boundaries.json' },
  },
};
