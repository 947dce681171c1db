import { actorOf, callerOf, type Operations } from '@gantry/http';
import type { Response } from 'express';
import { clientOf } from '../auth/session-cookie';
import { userToApi } from '../users/user';
import { workspaceToApi } from '../workspaces/workspace';
import { getWorkspace } from '../workspaces/workspace-repository';
import {
  type DeviceDeps,
  type DeviceToken,
  decideDevice,
  exchangeDevice,
  findForApproval,
  INTERVAL_SECONDS,
  LIFETIME_SECONDS,
  startDevice,
} from './device-service';

export function deviceOperations(deps: DeviceDeps & { dashboardUrl: string }): Operations {
  const { prisma, dashboardUrl } = deps;
  return {
    startDevice: async (req, res) => {
      const { deviceCode, userCode } = await startDevice(deps, req.body?.client_name, clientOf(req));
      res.json({
        device_code: deviceCode,
        user_code: userCode,
        verification_url: `${dashboardUrl}/device`,
        polling_interval_seconds: INTERVAL_SECONDS,
        expires_in_seconds: LIFETIME_SECONDS,
      });
    },
    exchangeDevice: async (req, res) => {
      const { device_code, user_code } = req.body;
      sendToken(res, await exchangeDevice(deps, device_code, user_code, clientOf(req)));
    },
    pollDevice: async (req, res) => {
      sendToken(res, await exchangeDevice(deps, String(req.params.device_code), null, clientOf(req)));
    },
    lookUpDevice: async (req, res) => {
      const caller = callerOf(req);
      const request = await findForApproval(prisma, caller, req.body.user_code);
      const workspace = await getWorkspace(prisma, caller.workspaceId);
      res.json({
        user_code: request.userCode,
        client_name: request.clientName,
        address: request.address,
        user_agent: request.userAgent,
        requested_at: request.createdAt.toISOString(),
        expires_at: request.expiresAt.toISOString(),
        workspace: workspaceToApi(workspace, caller.role, true),
      });
    },
    approveDevice: async (req, res) => {
      await decideDevice(prisma, callerOf(req), actorOf(req), req.body.user_code, 'approved');
      res.status(204).end();
    },
    denyDevice: async (req, res) => {
      await decideDevice(prisma, callerOf(req), actorOf(req), req.body.user_code, 'denied');
      res.status(204).end();
    },
  };
}

function sendToken(res: Response, { token, workspaceId, user }: DeviceToken): void {
  res.json({ token, token_type: 'svc', workspace_id: workspaceId, user: userToApi(user) });
}
