/** Suites that start whole platforms, the longest, come first, so that none of them is left when the others have ended. */
const { default: Sequencer } = require('@jest/test-sequencer');

const isLong = ({ path }) => /[/\\]packages[/\\](testing|platform)[/\\]/.test(path);

module.exports = class extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    return [...sorted.filter(isLong), ...sorted.filter((test) => !isLong(test))];
  }
};
