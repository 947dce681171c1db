/** Programs that the run has obtained for its suites (global-setup.ts), all of them on PATH. */
import { ensureTool, findTool, type ToolName } from '@gantry/platform';

const TOOLS: ToolName[] = ['nats-server', 'nginx', 'bwrap', 'chromium', 'pgbouncer', 'promtool', 'kubectl', 'helm'];

/** Tools that tests do without on a machine that cannot download them. */
const OPTIONAL_TOOLS: ToolName[] = ['uv'];

/** By tool, why it is not there. Read by jest/summary.cjs as well. */
const MISSING_VARIABLE = 'GANTRY_MISSING_TOOLS';

const readMissingTools = (): Partial<Record<ToolName, string>> => JSON.parse(process.env[MISSING_VARIABLE] ?? '{}');

/** Puts the tools on PATH, whether the machine has them or they are fetched now. */
export async function ensureTestTools(addToPath: (file: string) => void): Promise<void> {
  const onStep = (text: string) => process.stderr.write(`${text}\n`);
  const missing = readMissingTools();
  await Promise.all(
    TOOLS.map(async (name) => {
      try {
        const file = await ensureTool(name, { onStep });
        addToPath(file);
        if (name === 'chromium') process.env.CHROMIUM = file;
      } catch (err) {
        missing[name] = (err as Error).message;
      }
    }),
  );
  await Promise.all(
    OPTIONAL_TOOLS.map((name) =>
      ensureTool(name, { onStep }).then(addToPath, (err) => onStep(`tests do without ${name}: ${err.message}`)),
    ),
  );
  process.env[MISSING_VARIABLE] = JSON.stringify(missing);
}

/**
 * Whether tests with this tool are skipped: only on a Mac, for which some tools do not exist. Everywhere else such
 * tests run, and fail by the name of what is missing.
 */
export const isToolUnavailable = (name: ToolName): boolean =>
  process.platform === 'darwin' && name in readMissingTools();

/** uv, where this machine reaches the index that it comes from. */
export const findTestUv = (): string | undefined => findTool('uv');

/** @throws Error that says how to get it */
export function assertTestTool(name: ToolName): void {
  const problem = readMissingTools()[name];
  if (problem) throw new Error(problem);
}
