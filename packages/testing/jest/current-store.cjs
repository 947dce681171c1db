/**
 * Replaces AsyncLocalStorage in Jest, which stores the current test in it: our tests run one after another.
 *
 * Otherwise, each suite would add an instance to the process, and Node.js 20 copies the store of every instance into
 * every promise. After a hundred suites, that took more than a tenth of a worker's time, and kept the results of all
 * tests in memory. Without an instance, promises cost what they cost in the services.
 */
class CurrentStore {
  #store;

  getStore() {
    return this.#store;
  }

  /** @param {() => Promise<unknown>} callback */
  async run(store, callback) {
    const before = this.#store;
    this.#store = store;
    try {
      return await callback();
    } finally {
      this.#store = before;
    }
  }
}

module.exports = { CurrentStore };
