import { type HandlerResponse, noContent, type Operations, ok, toApiFields } from '@gantry/http';
import type { AccountDeps } from '../account-deps';
import { getClientInfo } from '../auth/session-cookie';
import { userToApi } from '../users/user';
import { workspaceToApi } from '../workspaces/workspace';
import { getWorkspace } from '../workspaces/workspace-repository';
import {
  type DeviceToken,
  decideDeviceRequest,
  exchangeDeviceCode,
  getPendingDeviceRequest,
  INTERVAL_SECONDS,
  LIFETIME_SECONDS,
  startDeviceAuthorization,
} from './device-service';

export function createDeviceOperations(deps: AccountDeps): Operations<'worker'> {
  const { prisma, dashboardUrl } = deps;
  return {
    startDevice: async ({ body, req }) => {
      const { deviceCode, userCode } = await startDeviceAuthorization(deps, body?.client_name, getClientInfo(req));
      return ok({
        device_code: deviceCode,
        user_code: userCode,
        verification_url: `${dashboardUrl}/device`,
        polling_interval_seconds: INTERVAL_SECONDS,
        expires_in_seconds: LIFETIME_SECONDS,
      });
    },
    exchangeDevice: async ({ body: { device_code, user_code }, req }) =>
      toTokenResponse(await exchangeDeviceCode(deps, device_code, user_code, getClientInfo(req))),
    pollDevice: async ({ path, req }) =>
      toTokenResponse(await exchangeDeviceCode(deps, path.device_code, null, getClientInfo(req))),
    lookUpDevice: async ({ caller, body }) => {
      const request = await getPendingDeviceRequest(prisma, caller, body.user_code);
      const workspace = await getWorkspace(prisma, caller.workspaceId);
      return ok({
        ...toApiFields(request, 'userCode', 'clientName', 'address', 'userAgent', 'expiresAt'),
        requested_at: request.createdAt.toISOString(),
        workspace: workspaceToApi(workspace, caller.role, true),
      });
    },
    approveDevice: async (call) => decideDeviceRequest(prisma, call, call.body.user_code, 'approved').then(noContent),
    denyDevice: async (call) => decideDeviceRequest(prisma, call, call.body.user_code, 'denied').then(noContent),
  };
}

const toTokenResponse = ({ token, workspaceId, user }: DeviceToken): HandlerResponse =>
  ok({ token, token_type: 'svc', workspace_id: workspaceId, user: userToApi(user) });
