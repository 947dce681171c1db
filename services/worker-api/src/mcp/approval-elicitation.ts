/** An approval as a question to the person behind a client: the elicitation, and their answer as a decision. */
import type { SurfaceSchemas } from '@gantry/openapi';
import { type InputRequest, inputRequired, type PrimitiveSchemaDefinition } from '@modelcontextprotocol/server';
import type { Json } from './operation-schemas';

/** Fields of `GET /api/approvals` that a question shows. */
export type PendingApproval = Pick<
  SurfaceSchemas<'worker'>['Approval'],
  'id' | 'run_id' | 'worker_id' | 'worker_name' | 'title' | 'message' | 'data' | 'calls' | 'permissions'
> & { form: FormItem[] | null };

interface FormItem {
  name: string;
  type: string;
  label?: string;
  description?: string;
  required?: boolean;
  default?: unknown;
  options?: { value: unknown; label: string }[];
}

/** Before the names of a form's items, which are the worker's: one may be called `verdict`. */
const FORM_ITEM_PREFIX = 'form_';
const JSON_TYPE_BY_ITEM_TYPE: Record<string, 'string' | 'number' | 'integer' | 'boolean'> = {
  text: 'string',
  textarea: 'string',
  date: 'string',
  url: 'string',
  number: 'number',
  integer: 'integer',
  boolean: 'boolean',
};

const APPROVE_CHOICE = { const: 'approve', title: 'Approve' };
const CHOICES = [APPROVE_CHOICE, { const: 'reject', title: 'Reject' }];
const CALL_CHOICES = [
  APPROVE_CHOICE,
  { const: 'refuse', title: 'Refuse the calls; the agent receives the reason and continues' },
  { const: 'reject', title: 'Stop the run' },
];

/**
 * Title and message are the worker's words, each on one line of JSON, so that they cannot pass for the data or for the
 * platform's.
 * @param problem words of the API about an answer that was given before
 * @returns null for an approval whose form needs more than a client can ask for, such as a file
 */
export function buildElicitation(approval: PendingApproval, problem?: string): InputRequest | null {
  const { title, message, data, worker_name: worker, worker_id: workerId, run_id: runId } = approval;
  const form = approval.form ?? [];
  if (form.some((item) => item.required && item.default === undefined && !toSchemaProperty(item))) return null;
  const lines = [
    ...(problem ? [`Your last answer was rejected: ${problem}`] : []),
    `Run ${runId} of worker ${escapeText(worker)} (${workerId}) is waiting for approval.`,
    `Title: ${escapeText(title)}`,
    ...(message === null ? [] : [`Message: ${escapeText(message)}`]),
    `Data:\n${escapeJson(JSON.stringify(data ?? null, null, 2))}`,
  ];
  const items = form.flatMap((item): [string, PrimitiveSchemaDefinition][] => {
    const property = toSchemaProperty(item);
    return property ? [[FORM_ITEM_PREFIX + item.name, property]] : [];
  });
  return inputRequired.elicit({
    message: lines.join('\n'),
    requestedSchema: {
      type: 'object',
      properties: {
        verdict: {
          type: 'string',
          title: 'Decision',
          oneOf: approval.calls ? CALL_CHOICES : CHOICES,
        },
        reason: { type: 'string', title: 'Reason', maxLength: 2000 },
        ...Object.fromEntries(items),
      },
      required: ['verdict'],
    },
  });
}

const escapeText = (text: string): string => escapeJson(JSON.stringify(text));

/** Characters that change how a line is read, such as those of right-to-left text, are shown as their numbers. */
const escapeJson = (json: string): string =>
  json.replace(/[\p{Cf}\u2028\u2029\u0080-\u009f]/gu, (one) =>
    [...one.matchAll(/[\s\S]/g)].map(([unit]) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
  );

function toSchemaProperty({
  name,
  type,
  label,
  description,
  default: defaultValue,
  options,
}: FormItem): PrimitiveSchemaDefinition | null {
  const words = { title: label ?? name, ...(description && { description }) };
  if (type === 'select') {
    if (!options?.every(({ value }) => typeof value === 'string')) return null;
    const oneOf = options.map(({ value, label: said }) => ({ const: String(value), title: said }));
    return {
      type: 'string' as const,
      ...words,
      oneOf,
      ...(typeof defaultValue === 'string' && { default: defaultValue }),
    };
  }
  const known = JSON_TYPE_BY_ITEM_TYPE[type];
  if (!known) return null;
  const isDefault = typeof defaultValue === (known === 'integer' ? 'number' : known);
  return { type: known, ...words, ...(isDefault && { default: defaultValue }) } as PrimitiveSchemaDefinition;
}

export interface Verdict {
  /** `refuse`: all tool calls of the approval, which is then approved with these decisions. */
  verdict: 'approve' | 'refuse' | 'reject';
  body: Json;
}

/** @returns null where the content names no verdict. The operation checks the rest */
export function parseVerdict(content: Json): Verdict | null {
  const { verdict, reason } = content;
  if (verdict !== 'approve' && verdict !== 'refuse' && verdict !== 'reject') return null;
  const data = Object.entries(content).flatMap(([name, value]) =>
    name.startsWith(FORM_ITEM_PREFIX) ? [[name.slice(FORM_ITEM_PREFIX.length), value]] : [],
  );
  return {
    verdict,
    body: { ...(reason !== undefined && { reason }), ...(data.length > 0 && { data: Object.fromEntries(data) }) },
  };
}
