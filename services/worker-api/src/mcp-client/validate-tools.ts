/** Validates tools as a server lists them, before they are stored or shown. */
import { isDeeperThan } from '@gantry/http';
import { McpClientError, type McpTool } from '../connections/mcp-client-types';

export const TOOLS_MAX = 1_000;
const NAME = /^[\x21-\x7e]{1,200}$/;
const DESCRIPTION_CHARS_MAX = 20_000;
const SCHEMA_CHARS_MAX = 100_000;
const SCHEMA_DEPTH_MAX = 40;
/** In them instructions to a model can hide from the person who accepts a tool. */
const HIDDEN_CHARACTERS = /(?![\n\t])[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

interface ListedTool {
  name: string;
  description?: string | undefined;
  inputSchema: Record<string, unknown>;
  annotations?:
    | {
        readOnlyHint?: boolean | undefined;
        idempotentHint?: boolean | undefined;
        destructiveHint?: boolean | undefined;
      }
    | undefined;
}

/**
 * Removes control, invisible and bidirectional characters from descriptions and schemas.
 * @param previousTools of the pages before. @throws McpClientError naming the first tool that cannot be called
 */
export function validateTools(tools: ListedTool[], previousTools: McpTool[] = []): McpTool[] {
  const names = new Set(previousTools.map(({ name }) => name));
  return tools.map(({ name, description = '', inputSchema, annotations }, at) => {
    const problem = names.has(name) ? 'is listed twice' : findProblem({ name, description, inputSchema });
    if (problem) throw new McpClientError('bad_answer', `its tool ${NAME.test(name) ? name : at + 1} ${problem}`);
    names.add(name);
    const isReadOnly = annotations?.readOnlyHint === true;
    const isRepeatable = isReadOnly || annotations?.idempotentHint === true;
    // Without a word of the server it may, by the protocol.
    const isAdditive = isReadOnly || annotations?.destructiveHint === false;
    return {
      name,
      description: removeHiddenCharacters(description),
      inputSchema: mapStrings(inputSchema, removeHiddenCharacters),
      ...(isReadOnly && { isReadOnly }),
      ...(isRepeatable && { isRepeatable }),
      ...(isAdditive && { isAdditive }),
    };
  });
}

function findProblem({ name, description, inputSchema }: McpTool): string | undefined {
  if (!NAME.test(name)) return 'must have a name of 1 to 200 visible ASCII characters';
  if (description.length > DESCRIPTION_CHARS_MAX) {
    return `has a description longer than ${DESCRIPTION_CHARS_MAX} characters`;
  }
  if (isDeeperThan(inputSchema, SCHEMA_DEPTH_MAX))
    return `has a schema that is nested more than ${SCHEMA_DEPTH_MAX} levels deep`;
  if (JSON.stringify(inputSchema).length > SCHEMA_CHARS_MAX) {
    return `has a schema longer than ${SCHEMA_CHARS_MAX} characters`;
  }
  if (hasHiddenName(inputSchema)) return 'has a schema with invisible characters in a name';
  const { type, properties, required } = inputSchema;
  const isSound =
    type === 'object' &&
    (properties === undefined || isObject(properties)) &&
    (required === undefined || (Array.isArray(required) && required.every((one) => typeof one === 'string')));
  return isSound ? undefined : 'has an input schema that does not describe an object';
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);

const removeHiddenCharacters = (text: string): string => text.replaceAll(HIDDEN_CHARACTERS, '');

const hasHiddenName = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  Object.entries(value).some(([key, inner]) => removeHiddenCharacters(key) !== key || hasHiddenName(inner));

/** Maps the texts of a schema, without the names in it: those are what is called. */
export function mapStrings<Value>(value: Value, transform: (text: string) => string): Value {
  const mapValue = (one: unknown): unknown => {
    if (typeof one === 'string') return transform(one);
    if (Array.isArray(one)) return one.map(mapValue);
    if (typeof one !== 'object' || one === null) return one;
    return Object.fromEntries(Object.entries(one).map(([key, inner]) => [key, mapValue(inner)]));
  };
  return mapValue(value) as Value;
}
