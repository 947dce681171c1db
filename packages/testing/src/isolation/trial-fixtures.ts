/** Candidates and repairs in the isolation matrix of the worker surface. */
import type { Fixture } from './matrix';

const createCandidateFixture = (body?: object): Fixture => ({
  send: ({ worker, candidate }) => ({ path: { worker_id: worker, candidate_id: candidate }, ...(body && { body }) }),
});
const createRunFixture = (body?: object): Fixture => ({
  send: ({ run }) => ({ path: { run_id: run }, ...(body && { body }) }),
});

export const trialFixtures: Record<string, Fixture> = {
  listCandidates: { send: ({ worker }) => ({ path: { worker_id: worker } }) },
  createCandidate: {
    send: ({ worker }) => ({
      path: { worker_id: worker },
      body: { limits: { timeout_seconds: 7 }, last_successful: 0 },
    }),
  },
  getCandidate: createCandidateFixture(),
  listCandidateFiles: createCandidateFixture(),
  promoteCandidate: createCandidateFixture({}),
  approveCandidate: createCandidateFixture(),
  dropCandidate: createCandidateFixture(),
  getRepair: createRunFixture(),
  repairRun: createRunFixture({}),
  stopRepair: createRunFixture(),
};
