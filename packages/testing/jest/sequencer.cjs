/** The longest suites come first, so that none of them is left when the others have ended. */
const { default: Sequencer } = require('@jest/test-sequencer');

/** Without Jest's cache, as in a fresh clone, it would go by the size of files. */
const LONGEST = [
  'isolation/worker-isolation',
  'backup/backup',
  'src/worker-chaos',
  'src/whole-platform',
  'src/worker-platform',
  'regular-expressions/regular-expressions',
  'security/fuzz',
  'launch/launch',
  'src/purged-workspace',
  'src/jetstream-loss',
  'src/agent-storm',
].map((name) => `/${name}.test.ts`);

/** Position among the first suites; those of whole platforms follow, and then all others. */
function rank({ path }) {
  const file = path.replaceAll('\\', '/');
  const place = LONGEST.findIndex((name) => file.endsWith(name));
  if (place >= 0) return place;
  return /\/packages\/(testing|platform)\//.test(file) ? LONGEST.length : LONGEST.length + 1;
}

module.exports = class extends Sequencer {
  sort(tests) {
    return super.sort(tests).sort((one, other) => rank(one) - rank(other));
  }
};
