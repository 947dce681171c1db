/** Operations that openapi/worker.yaml promises and that are about to come. */
import { AppError, type Operations } from '@gantry/http';

const PROMISED = [
  'signOutEverywhere',
  'listSessions',
  'endSession',
  'changePassword',
  'requestPasswordReset',
  'resetPassword',
  'lookUpInvitation',
  'acceptInvitation',
  'registerByInvitation',
  'startOidc',
  'finishOidc',
  'startDevice',
  'exchangeDevice',
  'pollDevice',
  'lookUpDevice',
  'approveDevice',
  'denyDevice',
  'createWorkspace',
  'updateWorkspace',
  'deleteWorkspace',
  'restoreWorkspace',
  'selectWorkspace',
  'leaveWorkspace',
  'transferWorkspace',
  'listMembers',
  'removeMember',
  'changeMemberRole',
  'createPasswordResetLink',
  'inviteMember',
  'listInvitations',
  'withdrawInvitation',
  'resendInvitation',
  'listAuditLog',
  'exportAuditLog',
];

export const notBuiltYet = (): Operations =>
  Object.fromEntries(
    PROMISED.map((id) => [
      id,
      () => {
        throw new AppError('unavailable', 'not_built_yet', `${id} is being built`);
      },
    ]),
  );
