import fs from 'node:fs';
import path from 'node:path';

const text = fs.readFileSync(path.resolve(__dirname, '../../../Dockerfile'), 'utf8');

interface Stage {
  from: string;
  name: string;
  /** Instructions in order, each on one line. */
  lines: string[];
}

const stages: Stage[] = [];
for (const line of text
  .replace(/^#.*\n/gm, '')
  .replace(/\\\n\s*/g, '')
  .split('\n')
  .filter(Boolean)) {
  const [, from, name] = /^FROM (\S+) AS (\S+)$/.exec(line) ?? [];
  if (from && name) stages.push({ from, name, lines: [] });
  else stages.at(-1)?.lines.push(line);
}
const findStage = (name: string) => stages.find((stage) => stage.name === name);
/** Lines of a stage, after those of the stages it is built on. */
const listStageLines = (stage: Stage): string[] => [
  ...(findStage(stage.from) ? listStageLines(findStage(stage.from) as Stage) : []),
  ...stage.lines,
];
const last = (stage: Stage, instruction: string) =>
  listStageLines(stage)
    .filter((line) => line.startsWith(`${instruction} `))
    .at(-1)
    ?.slice(instruction.length + 1);
const images = stages.filter(({ name }) => !['build', 'base', 'objects'].includes(name));

test('every image has the same base image in the same version', () => {
  const foreign = stages.map(({ from }) => from).filter((from) => !findStage(from));
  expect(new Set(foreign)).toEqual(new Set(['node:24-bookworm-slim']));
  expect(images.map(({ name }) => name)).toEqual([
    'worker-api',
    'automation-api',
    'skills-api',
    'executor',
    'gateway',
    'setup',
  ]);
});

test.each(images)(
  '$name runs as a numbered user, starts a program without a shell, and has a health check',
  (stage) => {
    expect(last(stage, 'USER')).toBe('10001:10001');
    expect(last(stage, 'ENTRYPOINT')).toBe('[]');
    expect(JSON.parse(last(stage, 'CMD') ?? '')).toEqual(expect.any(Array));
    expect(last(stage, 'HEALTHCHECK')).toMatch(stage.name === 'setup' ? /^NONE$/ : /CMD \["health"\]$/);
    expect(last(stage, 'LABEL')).toMatch(/image\.revision="\$COMMIT".*sbom="\/app\/sbom\.cdx\.json"/);
  },
);

test.each(images)('$name copies only its own pruned tree from a build, and cannot change it', ({ name, lines }) => {
  expect(lines.filter((line) => /^(COPY|ADD)/.test(line))).toEqual([`COPY --from=build /out/${name} /app`]);
});

test('packages of the system come without recommendations, and leave no index, log or cache behind', () => {
  const installing = stages.flatMap(({ lines }) => lines).filter((line) => line.includes('apt-get install'));
  expect(installing).toHaveLength(2);
  for (const line of installing) {
    expect(line).toMatch(/^RUN apt-get update && apt-get install --yes --no-install-recommends /);
    expect(line).toMatch(/&& rm -rf \/var\/lib\/apt\/lists\/\* \/var\/cache\/\* \/var\/log\/\*/);
  }
});

test('no secret can stay in a layer, and nothing is fetched from outside the package registries', () => {
  expect(text).not.toMatch(/^ARG .*(TOKEN|SECRET|PASSWORD|KEY)/im);
  expect(text).not.toMatch(/^ADD |curl |wget |sudo |:latest/m);
});

/** Programs that download over TLS; apt-get verifies its signed index over plain HTTP. */
const DOWNLOADS = /npx|npm|-m pip|bootstrap\.mjs/;

test('every line that downloads over TLS trusts the CA of BUILD_CA, which stays in no image', () => {
  const downloading = stages.flatMap((stage) =>
    stage.lines.filter((line) => line.startsWith('RUN ') && DOWNLOADS.test(line)).map((line) => ({ stage, line })),
  );
  expect(downloading.map(({ stage }) => stage.name)).toEqual(['build', 'build', 'executor']);
  const [trusted] = /(?<=ENV NODE_EXTRA_CA_CERTS=)\S+/.exec(findStage('build')?.lines.join('\n') ?? '') ?? [];
  for (const { stage, line } of downloading) {
    if (stage.name === 'build') {
      const before = stage.lines.slice(0, stage.lines.indexOf(line));
      expect(before).toEqual(
        expect.arrayContaining([
          'ARG BUILD_CA=',
          `RUN printf '%s\\n' "$BUILD_CA" > ${trusted}`,
          `ENV NODE_EXTRA_CA_CERTS=${trusted}`,
        ]),
      );
    } else {
      expect(line).toContain(`--mount=type=bind,from=build,source=${trusted},`);
      expect(line).toMatch(/--mount=type=tmpfs,target=(\S+) .*PIP_CERT=\1\//);
    }
  }
});
