import { existsSync } from 'node:fs';

const BROWSERS = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Undefined where there is none: the tests that need it are then skipped. */
export const chromiumPath: string | undefined = BROWSERS.find((file) => file !== undefined && existsSync(file));
