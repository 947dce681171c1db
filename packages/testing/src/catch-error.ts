/** Resolves with what a promise was rejected with. */
export const catchError = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => new Error('it succeeded'),
    (err) => err,
  );
