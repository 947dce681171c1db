/**
 * Runs a test file in Jest, and everything that it imports in Node.
 *
 * Jest's own runtime evaluates each module anew for each test file, in a realm of its own: 2 to 3 s for a suite that
 * starts a service, and workers of 3 GB. Here a worker loads a module once, by Node's `require` and in Node's realm, as
 * the services themselves do. Modules therefore must not keep state of a suite; `jest.mock` does not exist.
 */
const asyncHooks = require('node:async_hooks');
const { createRequire, isBuiltin } = require('node:module');
const vm = require('node:vm');
const { default: Runtime } = require('jest-runtime');
const { CurrentStore } = require('./current-store.cjs');
const { dropChangedSources, useTransform } = require('./require-source.cjs');

/** Source maps by file, for the stacks of all suites of this worker: a module is transformed only once. */
const sourceMaps = new Map();

class NodeRuntime extends Runtime {
  constructor(...args) {
    super(...args);
    dropChangedSources();
    this.transformCache.sourceMaps = sourceMaps;
    useTransform((file) => this.transformCache.transform(file));
    this.executor.compile = (source, filename) =>
      vm.compileFunction(source, this.executor.injectedModuleParameters, { filename });
    const requireCoreModule = this.coreModule.require.bind(this.coreModule);
    this.coreModule.require = (name) =>
      name === 'node:async_hooks' ? { ...asyncHooks, AsyncLocalStorage: CurrentStore } : requireCoreModule(name);
    // Jest hands `jest` to the modules that it evaluates; ours find it where `test` and `expect` are.
    Object.defineProperty(globalThis, 'jest', {
      configurable: true,
      get: () => this.jestGlobals.jestObjectFor(this._testPath),
    });
  }

  requireModule(from, moduleName, options, isRequireActual) {
    // The test file itself, and Jest's own modules, which hold the state of one suite.
    if (!moduleName || options?.isInternalModule) {
      return super.requireModule(from, moduleName, options, isRequireActual);
    }
    return createRequire(from)(isBuiltin(moduleName) ? moduleName : this._resolution.resolveCjs(from, moduleName));
  }
}

module.exports = NodeRuntime;
