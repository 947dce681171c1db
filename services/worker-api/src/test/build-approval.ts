import type { Suspension } from '@gantry/events';

type ApprovalSuspension = Extract<Suspension, { kind: 'approve' }>;

/** Builds the suspension of a run whose first step asks for an approval. */
export const buildApproval = (name: string, overrides: Partial<ApprovalSuspension> = {}): ApprovalSuspension => ({
  kind: 'approve',
  step: { ordinal: 1, kind: 'approve', name },
  title: name,
  message: null,
  data: null,
  form: null,
  expiresInSeconds: null,
  ...overrides,
});
