/** A Jest reporter of what a run took and left out; its last line is for machines: "N passed, N failed, N skipped". */
const fs = require('node:fs');
const path = require('node:path');

const SLOWEST_COUNT = 10;

class Summary {
  constructor({ rootDir, testNamePattern }) {
    this.rootDir = rootDir;
    // Tests that a pattern leaves out are not skipped for want of anything.
    this.isWhole = !testNamePattern;
  }

  onRunComplete(_contexts, results) {
    const skipped = this.isWhole ? results.numPendingTests : 0;
    this.isIncomplete = skipped > 0 && process.platform !== 'darwin';
    // The static checks run beside the tests (bootstrap.mjs). A suite that did not load has no tests to fail.
    const checks = Number(process.env.GANTRY_FAILED_CHECKS ?? 0);
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites + checks;
    const lines = [
      ...(results.testResults.length > SLOWEST_COUNT ? this.listSlowest(results.testResults) : []),
      ...(skipped ? this.listSkipped(results.testResults) : []),
      `${results.numPassedTests} passed, ${failed} failed, ${skipped} skipped`,
    ];
    // Jest writes its own summary after every reporter.
    process.once('exit', () => fs.writeSync(1, `${lines.join('\n')}\n`));
  }

  /** Makes the run fail. */
  getLastError() {
    return this.isIncomplete ? new Error('Tests were skipped on a machine that supports all of them.') : undefined;
  }

  name(suite) {
    return path.relative(this.rootDir, suite.testFilePath);
  }

  listSlowest(suites) {
    const seconds = ({ perfStats: { start, end } }) => (end - start) / 1000;
    const slowest = [...suites].sort((a, b) => seconds(b) - seconds(a)).slice(0, SLOWEST_COUNT);
    return [
      '',
      'The slowest suites:',
      ...slowest.map((suite) => `${seconds(suite).toFixed(1).padStart(7)} s  ${this.name(suite)}`),
    ];
  }

  listSkipped(suites) {
    const counts = suites.filter((suite) => suite.numPendingTests > 0);
    const reasons = Object.values(JSON.parse(process.env.GANTRY_MISSING_TOOLS ?? '{}'));
    return [
      '',
      'Skipped:',
      ...counts.map((suite) => `${String(suite.numPendingTests).padStart(7)}    ${this.name(suite)}`),
      ...reasons,
    ];
  }
}

module.exports = Summary;
