import { callerOf, type Operations } from '@gantry/http';
import { refuseApiKey } from '../access/caller';

export const meOperations: Operations = {
  me: (req, res) => {
    refuseApiKey(req);
    const { userId, email, name, kind, workspaceId, role } = callerOf(req);
    res.json({ id: userId, email, name, credential: kind, workspace_id: workspaceId, role });
  },
};
