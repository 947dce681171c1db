/** Pages about the operations of each surface, by resource, as Markdown. */
import fs from 'node:fs';
import path from 'node:path';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** @param documents paths of the OpenAPI documents, by surface */
export function writeReference(documents, out) {
  const index = ['# Operations', ''];
  for (const [surface, file] of Object.entries(documents)) {
    const document = JSON.parse(fs.readFileSync(file, 'utf8'));
    fs.mkdirSync(path.join(out, surface), { recursive: true });
    index.push(`## ${document.info.title}`, '');
    for (const { name, description } of document.tags) {
      const operations = listOperations(document, name);
      if (!operations.length) continue;
      const page = `${surface}/${name.toLowerCase().replaceAll(' ', '-')}.md`;
      const parts = operations.map((one) => formatOperation(document, surface, one));
      fs.writeFileSync(path.join(out, page), `${[`# ${name}`, description, ...parts].join('\n\n')}\n`);
      index.push(`- [${name}](${page}): ${description}`);
    }
    index.push('');
  }
  fs.writeFileSync(path.join(out, 'README.md'), index.join('\n'));
}

function listOperations({ paths }, tag) {
  return Object.entries(paths).flatMap(([url, item]) =>
    METHODS.filter((method) => item[method]?.tags?.includes(tag)).map((method) => ({
      ...{ url, method },
      ...item[method],
      parameters: [...(item.parameters ?? []), ...(item[method].parameters ?? [])],
    })),
  );
}

function resolve(document, value) {
  if (!value?.$ref) return value;
  return value.$ref
    .slice(2)
    .split('/')
    .reduce((part, key) => part[key.replaceAll('~1', '/').replaceAll('~0', '~')], document);
}

function formatOperation(document, surface, operation) {
  const { url, method, summary, description = '', operationId } = operation;
  const parameters = operation.parameters.map((one) => resolve(document, one));
  const body = resolve(document, operation.requestBody);
  return [
    `## ${summary}`,
    `\`${method.toUpperCase()} ${url}\` (\`${operationId}\`)`,
    description.trim(),
    `\`\`\`ts\n${formatCall(surface, operation, parameters, body)}\n\`\`\``,
    formatParameters(document, parameters),
    formatResponses(document, operation.responses),
  ]
    .filter(Boolean)
    .join('\n\n');
}

/** With the parameters that are required, and an example of the body. */
function formatCall(surface, { url, method }, parameters, body) {
  const groups = ['path', 'query', 'header'].flatMap((place) => {
    const names = parameters.filter((one) => one.in === place && one.required).map(({ name }) => name);
    return names.length ? [`${place}: { ${names.map((one) => `${formatKey(one)}: '...'`).join(', ')} }`] : [];
  });
  const example = body?.content?.['application/json']?.example;
  const options = [
    ...(groups.length ? [`params: { ${groups.join(', ')} }`] : []),
    ...(example === undefined ? [] : [`body: ${JSON.stringify(example)}`]),
  ];
  const rest = options.length ? `, {\n${options.map((one) => `    ${one},`).join('\n')}\n  }` : '';
  return `await unwrap(\n  gantry.${surface}.${method.toUpperCase()}('${url}'${rest}),\n);`;
}

const formatKey = (name) => (/^[A-Za-z_]+$/.test(name) ? name : `'${name}'`);

function formatParameters(document, parameters) {
  if (!parameters.length) return '';
  const rows = parameters.map(({ name, in: place, required, description = '', schema }) => {
    const { type = '', enum: values } = resolve(document, schema) ?? {};
    const kind = values ? values.map((one) => `\`${one}\``).join(', ') : [type].flat().join(' or ');
    return `| \`${name}\` | ${place}${required ? ', required' : ''} | ${kind} | ${toCell(description)} |`;
  });
  return ['| Parameter | In | Type | |', '|---|---|---|---|', ...rows].join('\n');
}

function formatResponses(document, responses) {
  const rows = Object.entries(responses).map(([status, response]) => {
    const { description, content = {} } = resolve(document, response);
    return `| ${status} | ${Object.keys(content).join(', ')} | ${toCell(description)} |`;
  });
  return ['| Status | Content | |', '|---|---|---|', ...rows].join('\n');
}

const toCell = (text) => text.trim().replaceAll('|', '\\|').replaceAll('\n', ' ');
