import {
  ApiError,
  type AutomationSchemas,
  type Clients,
  createClients,
  createDataClient,
  type DataClients,
  type SkillsSchemas,
  type WorkerSchemas,
} from '@gantry/sdk';
import { trackSlowRequest } from './live/slow-requests';
import { CONFIG_URL } from './paths';
import { session } from './session';
import { workspaceSelection } from './workspace-selection';

export type Page = AutomationSchemas['Page'];
export type AutomationItem = AutomationSchemas['AutomationItem'];
export type Version = AutomationSchemas['Version'];
export type Run = AutomationSchemas['Run'];
export type RunItem = AutomationSchemas['RunItem'];
export type RunStatus = AutomationSchemas['RunStatus'];
export type RunError = AutomationSchemas['RunError'];
export type TestRun = AutomationSchemas['TestRun'];
export type RunArtifact = AutomationSchemas['RunArtifact'];
export type InputItem = AutomationSchemas['InputItem'];
export type Me = WorkerSchemas['Me'];
export type Workspace = WorkerSchemas['Workspace'];
export type Member = WorkerSchemas['Member'];
export type Invitation = WorkerSchemas['Invitation'];
export type Token = WorkerSchemas['Token'];
export type TokenRestriction = WorkerSchemas['TokenRestriction'];
export type Role = WorkerSchemas['Role'];
export type Worker = WorkerSchemas['Worker'];
export type DependencyInstallation = WorkerSchemas['DependencyInstallation'];
export type WorkerItem = WorkerSchemas['WorkerItem'];
export type ChangedWorker = WorkerSchemas['ChangedWorker'];
export type WorkerChange = WorkerSchemas['WorkerChange'];
export type Trigger = WorkerSchemas['Trigger'];
export type WorkerRun = WorkerSchemas['Run'];
export type Context = WorkerSchemas['Context'];
export type WorkerRunItem = WorkerSchemas['RunItem'];
export type Usage = WorkerSchemas['Usage'];
export type ShareLink = WorkerSchemas['ShareLink'];
export type SharedRun = WorkerSchemas['SharedRun'];
export type Approval = WorkerSchemas['Approval'];
export type Review = WorkerSchemas['Review'];
export type ApprovalCall = WorkerSchemas['ApprovalCall'];
export type Conversation = WorkerSchemas['Conversation'];
export type ConversationHead = WorkerSchemas['ConversationHead'];
export type ChatTurn = WorkerSchemas['ChatTurn'];
export type WorkerConversation = WorkerSchemas['WorkerConversation'];
export type WorkerTurn = WorkerSchemas['WorkerTurn'];
export type ChatCall = WorkerSchemas['ChatCall'];
export type Model = WorkerSchemas['Model'];
export type Candidate = WorkerSchemas['Candidate'];
export type CandidateDetail = WorkerSchemas['CandidateDetail'];
export type CandidateCase = WorkerSchemas['CandidateCase'];
export type CandidateSummary = WorkerSchemas['CandidateSummary'];
export type CaseOutcome = WorkerSchemas['CaseOutcome'];
export type Repair = WorkerSchemas['Repair'];
export type Example = WorkerSchemas['Example'];
export type Check = WorkerSchemas['Check'];
export type CheckInput = WorkerSchemas['CheckInput'];
export type CheckResult = WorkerSchemas['CheckResult'];
export type Evaluation = WorkerSchemas['Evaluation'];
export type EvaluationDetail = WorkerSchemas['EvaluationDetail'];
export type EvaluationResult = WorkerSchemas['EvaluationResult'];
export type EvaluationTable = WorkerSchemas['EvaluationTable'];
export type OutputItem = AutomationSchemas['OutputItem'];
export type Automation = AutomationSchemas['Automation'];
export type AutomationChange = AutomationSchemas['AutomationChange'];
export type Skill = SkillsSchemas['Skill'];
export type SkillItem = SkillsSchemas['SkillItem'];
export type SkillVersionText = SkillsSchemas['SkillVersionText'];
export type SearchHit = SkillsSchemas['SearchHit'];
export type Library = SkillsSchemas['Library'];
export type LibraryItem = SkillsSchemas['LibraryItem'];
export type ApiKey = SkillsSchemas['ApiKey'];
export type Visibility = SkillsSchemas['Visibility'];

/** Sends a request; after a 401, renews the token once and retries. */
export async function authorizedFetch(request: Request): Promise<Response> {
  const workspaceId = workspaceSelection.current();
  if (workspaceId && session.current().status === 'signed-in' && !request.headers.has('x-svc-workspace')) {
    request.headers.set('x-svc-workspace', workspaceId);
  }
  const retryRequest = request.clone();
  const isRead = request.method === 'GET' && request.headers.get('Accept') !== 'text/event-stream';
  const response = await (isRead ? trackSlowRequest(fetch(request)) : fetch(request));
  if (response.status !== 401 || session.current().status !== 'signed-in') return response;
  const token = await session.renew();
  if (!token) return response;
  retryRequest.headers.set('Authorization', `Bearer ${token}`);
  return fetch(retryRequest);
}

/** Queries are retried by their cache, and nothing else is. */
const clientOptions = { getToken: () => session.token(), fetch: authorizedFetch, retry: false } as const;

/** Clients of this origin: the automation surface, and the operations of the worker surface under `/auth`. */
const local: Clients = createClients(clientOptions);

interface RemoteClients {
  baseUrl: string;
  own: Clients['worker'];
  visitor: Clients['worker'];
  skills: Clients['skills'];
}

let clientsPromise: Promise<RemoteClients> | undefined;

/** Creates the clients of the other surfaces, at the URLs that this installation configures. */
function getRemoteClients(): Promise<RemoteClients> {
  clientsPromise ??= fetch(CONFIG_URL)
    .then((answer) => answer.json() as Promise<{ base_url: string; skills_url: string }>)
    .then(({ base_url: baseUrl, skills_url: skillsUrl }) => ({
      baseUrl,
      own: createClients({ ...clientOptions, baseUrl }).worker,
      skills: createClients({ ...clientOptions, skillsUrl }).skills,
      visitor: createClients({ baseUrl, fetch: (request) => fetch(request, { credentials: 'omit' }), retry: false })
        .worker,
    }))
    .catch((error: unknown) => {
      clientsPromise = undefined;
      throw error;
    });
  return clientsPromise;
}

/** Returns the client of the worker surface with the member's session, for responses of which more is read than the data. */
export const getWorkerApi = async (): Promise<Clients['worker']> => (await getRemoteClients()).own;

export const getWorkerBaseUrl = async (): Promise<string> => (await getRemoteClients()).baseUrl;

/**
 * Clients whose methods return the data of a response: `account` for operations under `/auth`, `visitor` without a
 * credential, for the holder of a link. @throws ApiError for anything but 2xx
 */
export const api: DataClients & Record<'account' | 'visitor', DataClients['worker']> = {
  account: createDataClient(async () => local.worker),
  automation: createDataClient(async () => local.automation),
  worker: createDataClient(getWorkerApi),
  skills: createDataClient(async () => (await getRemoteClients()).skills),
  visitor: createDataClient(async () => (await getRemoteClients()).visitor),
};

export const hasErrorStatus = (error: unknown, ...statuses: number[]): boolean =>
  error instanceof ApiError && statuses.includes(error.status);
