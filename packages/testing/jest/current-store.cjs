/**
 * Stands in for AsyncLocalStorage in Jest, which keeps there the test that is under way: ours run one after another.
 *
 * Each suite would add another instance to the process, and Node.js 20 copies the stores of all of them into every
 * promise: after a hundred suites a tenth of a worker's time, and the results of each test stay in memory. Without any,
 * promises cost what they cost in the services.
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
