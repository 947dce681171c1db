import { callerOf, type Operations } from '@gantry/http';

export const meOperations: Operations = {
  me: (req, res) => {
    const { userId, email, name, kind, workspaceId, role } = callerOf(req);
    res.json({ id: userId, email, name, credential: kind, workspace_id: workspaceId, role });
  },
};
