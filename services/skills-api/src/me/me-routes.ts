import { type Operations, ok } from '@gantry/http';
import { assertNotApiKey } from '../access/caller';

export const createMeOperations: Operations<'skills'> = {
  me: ({ caller, req }) => {
    assertNotApiKey(req);
    const { userId, email, emailVerified, name, kind, workspaceId, role } = caller;
    const who = { id: userId, email, email_verified: emailVerified, name };
    return ok({ ...who, credential: kind, workspace_id: workspaceId, role });
  },
};
