import { callerOf, type Operations } from '@gantry/http';
import { refuseApiKey } from '../access/caller';

export const meOperations: Operations = {
  me: (req, res) => {
    refuseApiKey(req);
    const { userId, email, emailVerified, name, kind, workspaceId, role } = callerOf(req);
    const who = { id: userId, email, email_verified: emailVerified, name };
    res.json({ ...who, credential: kind, workspace_id: workspaceId, role });
  },
};
