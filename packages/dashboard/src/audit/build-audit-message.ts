/** Sentences of the audit log by action; they follow the actor's name. */
import type { WorkerSchemas } from '@gantry/sdk';
import { formatRoleWithArticle } from '../accounts/roles';

export type AuditEntry = WorkerSchemas['AuditEntry'];
export type AuditAction = WorkerSchemas['AuditAction'];

/** A resource with a page or a name that has to be looked up. */
export interface ResourceReference {
  of: 'worker' | 'automation' | 'member' | 'run' | 'alert' | 'approval' | 'secret' | 'connection';
  id: string;
  /** The name at that time; absent: the present one counts. */
  name?: string | undefined;
}

type MessagePart = string | ResourceReference;

/** The resource of an entry, read as one of these kinds; `relatedWorker` is the worker that it belongs to. */
type ResourceReferences = Record<
  'worker' | 'relatedWorker' | 'automation' | 'member' | 'alert' | 'secret' | 'connection' | 'run' | 'failedRun',
  ResourceReference
>;

/** Accessors of an audit entry, for the sentences. */
interface MessageContext extends ResourceReferences {
  id: string;
  source: string;
  /** A detail as text; empty where it is not one. */
  text: (name: string) => string;
  /** A detail in quotation marks, after a space; empty where it is not text. */
  quote: (name: string) => string;
  /** A list among the details. */
  list: (name: string) => string[];
  has: (name: string) => boolean;
  count: (name: string) => number;
}

type MessageBuilder = (context: MessageContext) => MessagePart[];

const formatCount = (count: number, singular: string, plural: string): string =>
  count === 1 ? singular : `${count} ${plural}`;

const FIELD_LABELS: Record<string, string> = {
  python_dependencies: 'packages',
  evaluate_on_save: 'automatic evaluation',
  scheduleEnabled: 'schedule status',
  scheduleInputs: 'schedule inputs',
  misfire: 'missed-run policy',
  timezone: 'time zone',
  expose: 'exposed values',
  in_body: 'placeholders in request bodies',
  on_failure: 'automatic repair setting',
  max_turns: 'maximum turns',
  budget_usd: 'budget per run',
  enabled: 'status',
  max_duration_seconds: 'time limit',
  max_cost_usd: 'cost limit',
  reasoning: 'reasoning effort',
  webhook_secret_rotate: 'webhook token',
  webhook_signing_key_rotate: 'webhook signing key',
};

const formatFieldName = (field: string): string => FIELD_LABELS[field] ?? field.replaceAll('_', ' ');

function formatFieldList(fields: string[]): string {
  const names = fields.map(formatFieldName);
  const last = names.pop();
  if (!last) return 'the settings';
  return names.length ? `the ${names.join(', ')} and ${last}` : `the ${last}`;
}

function describeEdit(thing: MessagePart, { text, list, has }: MessageContext): MessagePart[] {
  if (text('change_source') === 'rollback') return ['rolled ', thing, ' back to an earlier version'];
  const fields = list('fields');
  if (has('to') && fields.length === 0) return ['saved a new version of ', thing];
  const version = has('version') ? `, creating version ${text('version')}` : '';
  return [`changed ${formatFieldList(fields)} for `, thing, version];
}

/** The type requires a sentence for every action. */
export const MESSAGE_BUILDERS: Record<AuditAction, MessageBuilder> = {
  'alert.created': ({ alert }) => ['created ', alert],
  'alert.updated': ({ has, alert }) =>
    has('secret') ? ['rotated the signing secret for ', alert] : ['updated ', alert],
  'alert.deleted': () => ['deleted an alert'],
  'alert.disabled': ({ alert, has, text }) => ['disabled ', alert, has('reason') ? `: ${text('reason')}` : ''],
  'alert.delivery_replayed': ({ has, count, alert }) => [
    has('replayed')
      ? `resent ${formatCount(count('replayed'), 'a delivery', 'deliveries')} for `
      : 'resent a delivery for ',
    alert,
  ],
  'api_key.created': ({ quote }) => [`created the skill key${quote('name')}`],
  'api_key.rotated': ({ quote }) => [`renewed the skill key${quote('name')}`],
  'api_key.revoked': ({ quote }) => [`revoked the skill key${quote('name')}`],
  'approval.approved': (context) => ['approved', ...describeApproval(context)],
  'approval.rejected': (context) => ['rejected', ...describeApproval(context)],
  'approval.expired': (context) => ['closed', ...describeApproval(context), ' after it expired without a decision'],
  'approval.link_renewed': ({ id, relatedWorker }) => [
    'created a new review link for ',
    { of: 'approval', id, name: 'an approval' },
    ' for ',
    relatedWorker,
  ],
  'artifact.created': ({ quote }) => [`uploaded code for${quote('name') || ' an automation'}`],
  'automation.deployed': ({ automation }) => ['deployed ', automation],
  'automation.updated': ({ text, automation }) => [`deployed version ${text('to')} of `, automation],
  'automation.rolled_back': ({ automation, text }) => ['rolled back ', automation, ` to version ${text('to')}`],
  'automation.changed': ({ list, automation }) => [`changed ${formatFieldList(list('changed'))} for `, automation],
  'automation.archived': ({ automation }) => ['archived ', automation],
  'connection.authorized': ({ text, connection }) => [`connected the ${text('app')} account `, connection],
  'connection.created': ({ text, connection }) => [`created a connection to ${text('app')}: `, connection],
  'connection.deleted': ({ text, quote }) => [`deleted the ${text('app')} connection${quote('label')}`],
  'connection.failed': ({ connection }) => ['found that the connection ', connection, ' isn’t working'],
  'connection.recovered': ({ connection }) => ['found that the connection ', connection, ' is working again'],
  'connection.updated': ({ connection }) => ['updated the connection ', connection],
  'context.created': ({ id }) => [`created the context ${id}`],
  'context.updated': (context) => describeEdit(`the context ${context.id}`, context),
  'context.deleted': ({ id }) => [`deleted the context ${id}`],
  'context.write_back_refused': ({ id, text }) => [
    `rejected changes to the context ${id} from `,
    { of: 'run', id: text('run_id'), name: 'a run' },
  ],
  'device.approved': ({ quote }) => [`approved sign-in for the app${quote('client_name')}`],
  'device.denied': ({ quote }) => [`denied sign-in for the app${quote('client_name')}`],
  'model_provider.created': ({ id }) => [`added ${id} models with a workspace key`],
  'model_provider.deleted': ({ id }) => [`removed the ${id} models`],
  'model_provider.priced': ({ id }) => [`set prices for the ${id} models`],
  'model_provider.updated': ({ id }) => [`updated the ${id} models`],
  'integration_app.deleted': ({ id }) => [`removed the OAuth client for ${id}`],
  'integration_app.set': ({ id }) => [`configured the OAuth client for ${id}`],
  'evaluation.started': ({ has, text, relatedWorker, count }) => [
    `evaluated ${has('sha') ? `version ${text('sha').slice(0, 7)}` : 'a version'} of `,
    relatedWorker,
    has('examples') ? ` against ${formatCount(count('examples'), 'one example', 'examples')}` : '',
  ],
  'evaluation.stopped': ({ relatedWorker }) => ['stopped an evaluation of ', relatedWorker],
  'example.created': ({ quote, relatedWorker }) => [`added the example${quote('name')} to `, relatedWorker],
  'example.updated': ({ list, quote, relatedWorker }) => [
    `changed ${formatFieldList(list('fields'))} of the example${quote('name')} in `,
    relatedWorker,
  ],
  'example.deleted': ({ quote, relatedWorker }) => [`deleted the example${quote('name')} from `, relatedWorker],
  'invitation.resent': ({ text }) => [`resent the invitation to ${text('email') || 'a person'}`],
  'invitation.withdrawn': ({ text }) => [`withdrew the invitation to ${text('email') || 'a person'}`],
  'library.created': ({ text }) => [`created the library ${text('slug')}`],
  'library.changed': ({ list, text }) => [`changed ${formatFieldList(list('changed'))} of the library ${text('slug')}`],
  'library.deleted': ({ text }) => [`deleted the library ${text('slug')}`],
  'library.reordered': ({ text }) => [`reordered the skills in the library ${text('slug')}`],
  'library.skill_added': ({ text }) => [`added the skill ${text('skill')} to the library ${text('slug')}`],
  'library.skill_removed': ({ text }) => [`removed the skill ${text('skill')} from the library ${text('slug')}`],
  'member.invited': ({ text }) => [`invited ${text('email')} as ${formatRoleWithArticle(text('role'))}`],
  'member.joined': ({ has, text }) => [has('role') ? `joined as ${formatRoleWithArticle(text('role'))}` : 'joined'],
  'member.left': () => ['left the workspace'],
  'member.removed': ({ member }) => ['removed ', member, ' from the workspace'],
  'member.role_changed': ({ member, text }) => ['made ', member, ` ${formatRoleWithArticle(text('to'))}`],
  'member.password_reset_link_created': ({ member }) => ['created a password reset link for ', member],
  'mcp_tool.published': ({ relatedWorker, id }) => ['published ', relatedWorker, ` as the tool ${id}`],
  'mcp_tool.withdrawn': ({ id }) => [`unpublished the tool ${id}`],
  'oauth_grant.created': ({ quote, text }) => [
    `connected the app${quote('client') || quote('host')}${text('readonly') === 'true' ? ' with read-only access' : ''}`,
  ],
  'oauth_grant.revoked': ({ text, quote }) => [
    text('reason') === 'reuse'
      ? `sent a used credential for the app${quote('client') || quote('host')} again, so the app was disconnected`
      : `disconnected the app${quote('client') || quote('host')}`,
  ],
  'run.cancelled': ({ source, run }) => ['cancelled ', source === 'worker-api' ? run : 'an automation run'],
  'run.shared': ({ run }) => ['created a share link for ', run],
  'run.share_link_revoked': ({ run }) => ['revoked a share link for ', run],
  'secret.set': ({ text, secret, list }) => [
    text('isNew') === 'false' ? 'replaced the secret ' : 'set the secret ',
    secret,
    list('hosts').length ? `, restricted to ${list('hosts').join(', ')}` : '',
  ],
  'secret.deleted': ({ secret }) => ['deleted the secret ', secret],
  'secret_keys.rotated': () => ['rotated the encryption key for all secrets'],
  'session.ended': () => ['ended one of their sessions'],
  'skill.published': ({ text }) => [`published the skill ${text('slug')}`],
  'skill.changed': ({ text, has }) => [
    `updated the skill ${text('slug')}${has('version') ? ` to version ${text('version')}` : ''}`,
  ],
  'skill.deleted': ({ text }) => [`deleted the skill ${text('slug')}`],
  'skill.restored': ({ text }) => [`restored the skill ${text('slug')}`],
  'skill.shared': ({ text, count }) => [
    `changed sharing for the skill ${text('slug')}: now shared with ${formatCount(count('total'), '1 email address', 'email addresses')}`,
  ],
  'token.created': ({ text, quote, has }) => [
    `created the ${text('kind') === 'workspace' ? 'workspace' : 'personal'} token${quote('name')}${has('restrict') ? ' with restricted access' : ''}`,
  ],
  'token.revoked': ({ has, quote }) => [has('name') ? `revoked the token${quote('name')}` : 'revoked a token'],
  'user.email_unverified': ({ text }) => [`was required to verify ${text('email') || 'their email address'} again`],
  'user.email_verification_requested': () => ['requested a verification email'],
  'user.email_verified': ({ text }) => [`verified ${text('email') || 'their email address'}`],
  'user.identity_linked': () => ['linked their account to the identity provider'],
  'user.password_changed': () => ['changed their password'],
  'user.password_reset': () => ['reset their password using a link'],
  'user.password_reset_requested': () => ['requested a password reset link'],
  'user.signed_out_everywhere': () => ['signed out everywhere'],
  'worker.created': ({ worker, text }) => ['created the worker ', { ...worker, name: text('name') || undefined }],
  'worker.updated': (context) => {
    const version = context.text('version');
    if (context.has('back_to'))
      return ['rolled ', context.worker, ` back to version ${context.text('back_to')}, creating version ${version}`];
    return version && context.list('fields').every((field) => field === 'files')
      ? [`deployed version ${version} of `, context.worker]
      : describeEdit(context.worker, context);
  },
  'worker.version_approved': ({ worker }) => ['approved the code for ', worker],
  'worker.candidate_made': ({ worker }) => ['proposed a new version of ', worker],
  'worker.candidate_promoted': ({ worker, has, text }) => [
    'promoted a candidate for ',
    worker,
    has('version') ? ` as version ${text('version')}` : '',
  ],
  'worker.candidate_dropped': ({ worker }) => ['dropped a candidate for ', worker],
  'worker.repair_begun': ({ failedRun, worker }) => ['started a repair for ', failedRun, ' of ', worker],
  'worker.repair_stopped': ({ failedRun, worker }) => ['stopped the repair for ', failedRun, ' of ', worker],
  'worker.paused': ({ worker }) => ['paused ', worker],
  'worker.resumed': ({ worker }) => ['resumed ', worker],
  'worker.tested': ({ worker }) => ['tested a draft of ', worker],
  'worker.archived': ({ worker }) => ['archived ', worker],
  'worker.restored': ({ worker }) => ['restored ', worker],
  'worker.deleted': ({ text, id }) => [`deleted the worker ${text('name') || id}`],
  'workspace.created': ({ quote }) => [`created the workspace${quote('name')}`],
  'workspace.renamed': ({ quote }) => [`renamed the workspace from${quote('from')} to${quote('to')}`],
  'workspace.deleted': () => ['deleted the workspace'],
  'workspace.restored': () => ['restored the workspace'],
  'workspace.model_budget_changed': () => ['changed the monthly model budget'],
  'workspace.exposure_changed': ({ text }) => [
    text('allow_exposed_credentials') === 'true'
      ? 'allowed workers to expose connection and secret values to code'
      : 'stopped workers from exposing connection and secret values to code',
  ],
  'workspace.retention_changed': () => ['changed run and log retention'],
  'workspace.transferred': ({ member }) => ['made ', member, ' the owner of the workspace'],
};

function describeApproval({ id, text, quote, has, relatedWorker }: MessageContext): MessagePart[] {
  return [
    ' ',
    { of: 'approval', id, name: quote('title').trim() || 'an approval' },
    ...(has('worker_id') ? [' for ', relatedWorker] : []),
    text('reason') ? `: ${text('reason')}` : '',
  ];
}

/** @returns the parts of the sentence, after the actor's name */
export function buildAuditMessage({ action, resource, details, source }: AuditEntry): MessagePart[] {
  const text = (name: string): string => {
    const value = details[name];
    return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : '';
  };
  const list = (name: string): string[] => {
    const value = details[name];
    return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
  };
  const sentence: MessageBuilder | undefined = MESSAGE_BUILDERS[action];
  // A newer service may write what this page does not know yet.
  if (!sentence) return [`changed ${resource.type} ${resource.id ?? ''}`];
  const id = resource.id ?? '';
  return sentence({
    id,
    source,
    text,
    quote: (name) => (text(name) ? ` “${text(name)}”` : ''),
    list,
    has: (name) => details[name] !== undefined && details[name] !== null && details[name] !== '',
    count: (name) => Number(details[name]) || 0,
    worker: { of: 'worker', id },
    relatedWorker: { of: 'worker', id: text('worker_id') },
    automation: { of: 'automation', id },
    member: { of: 'member', id, name: text('email') || undefined },
    alert: { of: 'alert', id },
    secret: { of: 'secret', id, name: id },
    connection: { of: 'connection', id, name: text('label') || text('app') || undefined },
    run: { of: 'run', id, name: 'a run' },
    failedRun: { of: 'run', id: text('run_id'), name: 'a failed run' },
  });
}

/** Labels of resource types in the filter. */
export const RESOURCE_TYPE_LABELS: Record<string, string> = {
  worker: 'Workers',
  automation: 'Automations',
  artifact: 'Uploaded code',
  run: 'Runs',
  example: 'Examples',
  evaluation: 'Evaluations',
  approval: 'Approvals',
  alert: 'Alerts',
  context: 'Contexts',
  secret: 'Secrets',
  connection: 'Connections',
  oauth_grant: 'Connected apps',
  integration_app: 'OAuth clients',
  model_provider: 'Models',
  mcp_tool: 'Tools for agents',
  skill: 'Skills',
  library: 'Libraries',
  api_key: 'Skill keys',
  member: 'Members',
  invitation: 'Invitations',
  token: 'Tokens',
  device: 'Devices',
  user: 'Accounts',
  session: 'Sessions',
  workspace: 'Workspace',
};
