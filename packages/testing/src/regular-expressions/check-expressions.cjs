/**
 * Reads `[{source, flags}]` and writes for each what recheck finds: null for an expression whose time grows with the text and
 * not faster. A process of its own, since the checker is three megabytes of JavaScript that nobody wants to transform.
 */
const BACKENDS = {
  'linux-x64': 'recheck-linux-x64',
  'darwin-arm64': 'recheck-macos-arm64',
  'darwin-x64': 'recheck-macos-x64',
};

const { spawnSync } = require('node:child_process');

// The same one each time, whether the machine has Java or not.
process.env.RECHECK_BACKEND = hasNative() ? 'native' : 'pure';
const { check } = require('recheck');

function hasNative() {
  const name = BACKENDS[`${process.platform}-${process.arch}`];
  try {
    require.resolve(`${name}/package.json`, { paths: [require.resolve('recheck')] });
    return true;
  } catch {
    return false;
  }
}

/** Timeout of one check on a busy machine; most take milliseconds. */
const PARAMETERS = { timeout: 240_000 };
const AT_ONCE = 2;
/** An attack has some hundred thousand characters: linear time is a millisecond or two, quadratic time seconds. */
const SUSPICIOUS_MS = 500;
const HANG_MS = 30_000;
/** Prints the milliseconds of processor time, which other processes add nothing to. */
const MATCH = `
const { source, flags, text } = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));
const expression = new RegExp(source, flags);
const before = process.cpuUsage();
expression.test(text);
console.log(process.cpuUsage(before).user / 1000);`;

/** The checker errs about lookbehinds where it only tries texts and counts steps of its own: the engine decides. */
function isSlow(source, flags, text) {
  const input = JSON.stringify({ source, flags: flags.replace('g', ''), text });
  const { error, stdout } = spawnSync(process.execPath, ['-e', MATCH], { input, encoding: 'utf8', timeout: HANG_MS });
  if (error && error.code !== 'ETIMEDOUT') throw error;
  return Boolean(error) || Number(stdout) > SUSPICIOUS_MS;
}

async function problemOf({ source, flags }) {
  const { status, complexity, attack, error } = await check(source, flags, PARAMETERS);
  if (status === 'safe') return null;
  if (status === 'vulnerable' && complexity.isFuzz && !isSlow(source, flags, attack.string)) return null;
  if (status === 'vulnerable')
    return `takes ${complexity.summary} time, for example for ${attack.pattern.slice(0, 200)}`;
  return `can't be checked: ${error.kind} ${error.message ?? ''}`;
}

async function main() {
  let input = '';
  for await (const chunk of process.stdin) input += chunk;
  const expressions = JSON.parse(input).entries();
  const problems = [];
  const work = async () => {
    for (const [index, expression] of expressions) problems[index] = await problemOf(expression);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  process.stdout.write(JSON.stringify(problems), () => process.exit(0));
}

main();
