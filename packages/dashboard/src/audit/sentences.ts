/** Sentences of the audit log by action; they follow the actor's name. */
import type { WorkerSchemas } from '@gantry/sdk';

export type AuditEntry = WorkerSchemas['AuditEntry'];
export type AuditAction = WorkerSchemas['AuditAction'];

/** A resource with a page or a name that has to be looked up. */
export interface ResourceReference {
  of: 'worker' | 'automation' | 'member' | 'run' | 'alert' | 'approval' | 'secret' | 'connection';
  id: string;
  /** The name at that time; absent: the present one counts. */
  name?: string | undefined;
}

export type SentencePart = string | ResourceReference;

/** Accessors of an audit entry, for the sentences. */
interface SentenceSource {
  id: string;
  source: string;
  /** A detail as text; empty where it is not one. */
  text: (name: string) => string;
  /** A list among the details. */
  list: (name: string) => string[];
  has: (name: string) => boolean;
  count: (name: string) => number;
}

type Sentence = (told: SentenceSource) => SentencePart[];

const worker = (told: SentenceSource): ResourceReference => ({ of: 'worker', id: told.id });
const relatedWorker = (told: SentenceSource): ResourceReference => ({ of: 'worker', id: told.text('worker_id') });
const automation = (told: SentenceSource): ResourceReference => ({ of: 'automation', id: told.id });
const member = (told: SentenceSource): ResourceReference => ({
  of: 'member',
  id: told.id,
  name: told.text('email') || undefined,
});
const alert = (told: SentenceSource): ResourceReference => ({ of: 'alert', id: told.id });
const secret = (told: SentenceSource): ResourceReference => ({ of: 'secret', id: told.id, name: told.id });
const connection = (told: SentenceSource): ResourceReference => ({
  of: 'connection',
  id: told.id,
  name: told.text('label') || told.text('app') || undefined,
});
const quoteName = (name: string): string => (name ? ` “${name}”` : '');
const formatRole = (name: string): string => (/^[aeio]/.test(name) ? `an ${name}` : `a ${name}`);
const failedRun = (told: SentenceSource): ResourceReference => ({
  of: 'run',
  id: told.text('run_id'),
  name: 'a failed run',
});
const formatCount = (count: number, one: string, many: string): string => (count === 1 ? one : `${count} ${many}`);

const FIELDS: Record<string, string> = {
  python_dependencies: 'packages',
  evaluate_on_save: 'whether new versions are evaluated',
  scheduleEnabled: 'whether its schedule is on',
  scheduleInputs: 'the inputs of its schedule',
  misfire: 'what happens after a missed start',
  webhook_secret_rotate: 'the webhook’s token',
  webhook_signing_key_rotate: 'the webhook’s signing key',
};

const fieldName = (field: string): string => FIELDS[field] ?? field.replaceAll('_', ' ');

function formatFieldList(fields: string[]): string {
  const names = fields.map(fieldName);
  const last = names.pop();
  if (!last) return 'the settings';
  return names.length ? `${names.join(', ')} and ${last}` : last;
}

function describeEdit(thing: SentencePart, told: SentenceSource): SentencePart[] {
  if (told.text('change_source') === 'rollback') return ['took ', thing, ' back to an earlier version'];
  const fields = told.list('fields');
  if (told.has('to') && fields.length === 0) return ['saved a new version of ', thing];
  const version = told.has('version') ? `, now version ${told.text('version')}` : '';
  return [`changed ${formatFieldList(fields)} of `, thing, version];
}

/** The type requires a sentence for every action. */
export const SENTENCES: Record<AuditAction, Sentence> = {
  'alert.created': (told) => ['made ', alert(told)],
  'alert.updated': (told) =>
    told.has('secret') ? ['made a new signing secret for ', alert(told)] : ['changed ', alert(told)],
  'alert.deleted': () => ['deleted an alert'],
  'alert.disabled': (told) => ['switched off ', alert(told), told.has('reason') ? `: ${told.text('reason')}` : ''],
  'alert.delivery_replayed': (told) => [
    told.has('replayed')
      ? `sent ${formatCount(told.count('replayed'), 'a delivery', 'deliveries')} of `
      : 'sent a delivery of ',
    alert(told),
    ' again',
  ],
  'api_key.created': (told) => [`made the skills key${quoteName(told.text('name'))}`],
  'api_key.rotated': (told) => [`made a new secret for the skills key${quoteName(told.text('name'))}`],
  'api_key.revoked': (told) => [`revoked the skills key${quoteName(told.text('name'))}`],
  'approval.approved': (told) => ['approved', ...describeApproval(told)],
  'approval.rejected': (told) => ['rejected', ...describeApproval(told)],
  'approval.expired': (told) => ['closed', ...describeApproval(told), ': no decision in time'],
  'approval.link_renewed': (told) => [
    'made a new review link for ',
    { of: 'approval', id: told.id, name: 'an approval' },
    ' of ',
    { of: 'worker', id: told.text('worker_id') },
  ],
  'artifact.created': (told) => [`uploaded the code of${quoteName(told.text('name')) || ' an automation'}`],
  'automation.deployed': (told) => ['deployed ', automation(told)],
  'automation.updated': (told) => [`deployed version ${told.text('to')} of `, automation(told)],
  'automation.rolled_back': (told) => ['took ', automation(told), ` back, as version ${told.text('to')}`],
  'automation.changed': (told) => [`changed ${formatFieldList(told.list('changed'))} of `, automation(told)],
  'automation.archived': (told) => ['archived ', automation(told)],
  'connection.authorized': (told) => [`connected an account of ${told.text('app')}: `, connection(told)],
  'connection.created': (told) => [`made a connection to ${told.text('app')}: `, connection(told)],
  'connection.deleted': (told) => [`deleted the connection to ${told.text('app')}${quoteName(told.text('label'))}`],
  'connection.failed': (told) => ['found the connection ', connection(told), ' not working'],
  'connection.recovered': (told) => ['found the connection ', connection(told), ' working again'],
  'connection.updated': (told) => ['changed the connection ', connection(told)],
  'context.created': (told) => [`made the context ${told.id}`],
  'context.updated': (told) => describeEdit(`the context ${told.id}`, told),
  'context.deleted': (told) => [`deleted the context ${told.id}`],
  'context.write_back_refused': (told) => [
    `did not take what `,
    { of: 'run', id: told.text('run_id'), name: 'a run' },
    ` wrote into the context ${told.id}`,
  ],
  'device.approved': (told) => [`let a program sign in${quoteName(told.text('client_name'))}`],
  'device.denied': (told) => [`refused a program that wanted to sign in${quoteName(told.text('client_name'))}`],
  'model_provider.created': (told) => [`offered models with a key of the workspace: ${told.id}`],
  'model_provider.deleted': (told) => [`took away the models of ${told.id}`],
  'model_provider.priced': (told) => [`set prices of the models of ${told.id}`],
  'model_provider.updated': (told) => [`changed the models of ${told.id}`],
  'integration_app.deleted': (told) => [`took away the OAuth client of ${told.id}`],
  'integration_app.set': (told) => [`set the OAuth client of ${told.id}`],
  'evaluation.started': (told) => [
    `evaluated ${told.has('sha') ? `version ${told.text('sha').slice(0, 7)}` : 'a version'} of `,
    relatedWorker(told),
    told.has('examples') ? ` by ${formatCount(told.count('examples'), 'one example', 'examples')}` : '',
  ],
  'evaluation.stopped': (told) => ['stopped an evaluation of ', relatedWorker(told)],
  'example.created': (told) => [`added the example${quoteName(told.text('name'))} to `, relatedWorker(told)],
  'example.updated': (told) => [
    `changed ${formatFieldList(told.list('fields'))} of the example${quoteName(told.text('name'))} of `,
    relatedWorker(told),
  ],
  'example.deleted': (told) => [`deleted the example${quoteName(told.text('name'))} of `, relatedWorker(told)],
  'invitation.resent': (told) => [`resent the invitation of ${told.text('email') || 'a person'}`],
  'invitation.withdrawn': (told) => [`withdrew the invitation of ${told.text('email') || 'a person'}`],
  'library.created': (told) => [`made the library ${told.text('slug')}`],
  'library.changed': (told) => [`changed ${formatFieldList(told.list('changed'))} of the library ${told.text('slug')}`],
  'library.deleted': (told) => [`deleted the library ${told.text('slug')}`],
  'library.reordered': (told) => [`put the skills of the library ${told.text('slug')} in another order`],
  'library.skill_added': (told) => [`added the skill ${told.text('skill')} to the library ${told.text('slug')}`],
  'library.skill_removed': (told) => [`took the skill ${told.text('skill')} out of the library ${told.text('slug')}`],
  'member.invited': (told) => [`invited ${told.text('email')} as ${formatRole(told.text('role'))}`],
  'member.joined': (told) => [told.has('role') ? `joined as ${formatRole(told.text('role'))}` : 'joined'],
  'member.left': () => ['left the workspace'],
  'member.removed': (told) => ['removed ', member(told), ' from the workspace'],
  'member.role_changed': (told) => ['made ', member(told), ` ${formatRole(told.text('to'))}`],
  'member.password_reset_link_created': (told) => ['made a password link for ', member(told)],
  'mcp_tool.published': (told) => [
    'published ',
    { of: 'worker', id: told.text('worker_id') },
    ` as the tool ${told.id}`,
  ],
  'mcp_tool.withdrawn': (told) => [`withdrew the tool ${told.id}`],
  'oauth_grant.created': (told) => [
    `let the app${quoteName(told.text('client') || told.text('host'))} in${told.text('readonly') === 'true' ? ' to read' : ''}`,
  ],
  'oauth_grant.revoked': (told) => [
    told.text('reason') === 'reuse'
      ? `sent a used credential of the app${quoteName(told.text('client') || told.text('host'))} again, which was disconnected`
      : `disconnected the app${quoteName(told.text('client') || told.text('host'))}`,
  ],
  'run.cancelled': (told) => [
    'cancelled ',
    told.source === 'worker-api' ? { of: 'run', id: told.id, name: 'a run' } : 'a run of an automation',
  ],
  'run.shared': (told) => ['made a share link to ', { of: 'run', id: told.id, name: 'a run' }],
  'run.share_link_revoked': (told) => ['ended a share link to ', { of: 'run', id: told.id, name: 'a run' }],
  'secret.set': (told) => [
    told.text('isNew') === 'false' ? 'replaced the secret ' : 'set the secret ',
    secret(told),
    told.list('hosts').length ? `, which goes to ${told.list('hosts').join(', ')} only` : '',
  ],
  'secret.deleted': (told) => ['deleted the secret ', secret(told)],
  'secret_keys.rotated': () => ['moved all secrets to a new encryption key'],
  'session.ended': () => ['ended one of their sessions'],
  'skill.published': (told) => [`published the skill ${told.text('slug')}`],
  'skill.changed': (told) => [
    `changed the skill ${told.text('slug')}${told.has('version') ? `, now version ${told.text('version')}` : ''}`,
  ],
  'skill.deleted': (told) => [`deleted the skill ${told.text('slug')}`],
  'skill.restored': (told) => [`brought back the skill ${told.text('slug')}`],
  'skill.shared': (told) => [
    `changed with whom the skill ${told.text('slug')} is shared: ${formatCount(told.count('total'), 'one address', 'addresses')} now`,
  ],
  'token.created': (told) => [
    `made the ${told.text('kind') === 'workspace' ? 'workspace' : 'personal'} token${quoteName(told.text('name'))}${told.has('restrict') ? ', restricted' : ''}`,
  ],
  'token.revoked': (told) => [
    told.has('name') ? `revoked the token${quoteName(told.text('name'))}` : 'revoked a token',
  ],
  'user.email_unverified': (told) => [`has yet to show again that ${told.text('email') || 'an address'} is theirs`],
  'user.email_verification_requested': () => ['asked for an e-mail that shows that the address is theirs'],
  'user.email_verified': (told) => [`showed that ${told.text('email') || 'the address'} is theirs`],
  'user.identity_linked': () => ['linked the account to the identity provider'],
  'user.password_changed': () => ['changed their password'],
  'user.password_reset': () => ['set a new password by a link'],
  'user.password_reset_requested': () => ['asked for a link to set a new password'],
  'user.signed_out_everywhere': () => ['signed out everywhere'],
  'worker.created': (told) => ['made the worker ', { ...worker(told), name: told.text('name') || undefined }],
  'worker.updated': (told) => {
    const version = told.text('version');
    if (told.has('back_to'))
      return ['took ', worker(told), ` back to version ${told.text('back_to')}, as version ${version}`];
    return version && told.list('fields').every((field) => field === 'files')
      ? [`deployed version ${version} of `, worker(told)]
      : describeEdit(worker(told), told);
  },
  'worker.version_approved': (told) => ['approved the code of ', worker(told)],
  'worker.candidate_made': (told) => ['proposed a version of ', worker(told)],
  'worker.candidate_promoted': (told) => [
    'promoted a candidate of ',
    worker(told),
    told.has('version') ? `, as version ${told.text('version')}` : '',
  ],
  'worker.candidate_dropped': (told) => ['dropped a candidate of ', worker(told)],
  'worker.repair_begun': (told) => ['began a repair of ', failedRun(told), ' of ', worker(told)],
  'worker.repair_stopped': (told) => ['stopped the repair of ', failedRun(told), ' of ', worker(told)],
  'worker.paused': (told) => ['paused ', worker(told)],
  'worker.resumed': (told) => ['resumed ', worker(told)],
  'worker.tested': (told) => ['tested a draft of ', worker(told)],
  'worker.archived': (told) => ['archived ', worker(told)],
  'worker.restored': (told) => ['brought back ', worker(told)],
  'worker.deleted': (told) => [`deleted the worker ${told.text('name') || told.id}`],
  'workspace.created': (told) => [`made the workspace${quoteName(told.text('name'))}`],
  'workspace.renamed': (told) => [
    `renamed the workspace from${quoteName(told.text('from'))} to${quoteName(told.text('to'))}`,
  ],
  'workspace.deleted': () => ['deleted the workspace'],
  'workspace.restored': () => ['brought the workspace back'],
  'workspace.model_budget_changed': () => ['changed what language models may cost in a month'],
  'workspace.exposure_changed': (told) => [
    told.text('allow_exposed_credentials') === 'true'
      ? 'allowed workers to give values of connections and secrets to their code'
      : 'forbade workers to give values of connections and secrets to their code',
  ],
  'workspace.retention_changed': () => ['changed how long runs and logs are kept'],
  'workspace.transferred': (told) => ['made ', member(told), ' the owner of the workspace'],
};

function describeApproval(told: SentenceSource): SentencePart[] {
  const title = quoteName(told.text('title'));
  return [
    ' ',
    { of: 'approval', id: told.id, name: title.trim() || 'an approval' },
    ...(told.has('worker_id') ? [' of ', { of: 'worker', id: told.text('worker_id') } as const] : []),
    told.text('reason') ? `: ${told.text('reason')}` : '',
  ];
}

/** @returns the parts of the sentence, after the actor's name */
export function buildAuditSentence({ action, resource, details, source }: AuditEntry): SentencePart[] {
  const getDetail = (name: string): unknown => details[name];
  const text = (name: string): string => {
    const value = getDetail(name);
    return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : '';
  };
  const list = (name: string): string[] => {
    const value = getDetail(name);
    return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
  };
  const sentence: Sentence | undefined = SENTENCES[action];
  // A newer service may write what this page does not know yet.
  if (!sentence) return [`changed ${resource.type} ${resource.id ?? ''}`];
  return sentence({
    id: resource.id ?? '',
    source,
    text,
    list,
    has: (name) => getDetail(name) !== undefined && getDetail(name) !== null && getDetail(name) !== '',
    count: (name) => Number(getDetail(name)) || 0,
  });
}

/** Labels of resource types in the filter. */
export const KINDS: Record<string, string> = {
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
  api_key: 'Skills keys',
  member: 'Members',
  invitation: 'Invitations',
  token: 'Tokens',
  device: 'Devices',
  user: 'Accounts',
  session: 'Sessions',
  workspace: 'The workspace',
};
