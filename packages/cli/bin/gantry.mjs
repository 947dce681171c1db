#!/usr/bin/env node
// Runs the command line from a checkout, where `npx gantry` finds this file before anything is built.
import fs from 'node:fs';

const built = new URL('../dist/gantry.mjs', import.meta.url);
if (fs.existsSync(built)) {
  await import(built.href);
} else {
  process.stderr.write('gantry is not built yet. Run: npm start\n');
  process.exitCode = 1;
}
