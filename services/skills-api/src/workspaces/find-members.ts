import { unavailable } from '@gantry/errors';
import { type Bus, MEMBERS_SUBJECT, membersReply, request, type WorkspaceMember } from '@gantry/events';

const TIMEOUT_MS = 1_500;

/** Members of the workspace who have one of these addresses, verified or not. @throws AppError 503 */
export type FindMembers = (workspaceId: string, emails: string[]) => Promise<WorkspaceMember[]>;

/** Asks worker-api, which knows the accounts. */
export const createFindMembers =
  (bus: Bus): FindMembers =>
  async (workspaceId, emails) => {
    if (!emails.length) return [];
    try {
      const question = { workspaceId, emails };
      return (await request(bus, MEMBERS_SUBJECT, question, membersReply, TIMEOUT_MS, 'worker-api')).members;
    } catch (cause) {
      throw unavailable('the list of members', cause);
    }
  };
