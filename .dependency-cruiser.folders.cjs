// No cycle between folders. Tests stand outside: they start the whole service that their folder is a part of.
const { options } = require('./.dependency-cruiser.cjs');

module.exports = {
  forbidden: [{ name: 'folders-have-no-cycles', severity: 'error', scope: 'folder', from: {}, to: { circular: true } }],
  options: {
    ...options,
    exclude: { path: `${options.exclude.path}|\\.test\\.tsx?$|/src/test/` },
  },
};
