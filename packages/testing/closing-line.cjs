/** A jest reporter that ends the output with one plain line which a machine can read: "N passed, N failed". */
const fs = require('node:fs');

module.exports = class ClosingLine {
  onRunComplete(_contexts, results) {
    // A suite that could not even be loaded has no tests to fail; lint and types ran before (bootstrap.mjs).
    const checks = Number(process.env.GANTRY_FAILED_CHECKS ?? 0);
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites + checks;
    // Jest writes its own summary after every reporter.
    process.once('exit', () => fs.writeSync(1, `${results.numPassedTests} passed, ${failed} failed\n`));
  }
};
