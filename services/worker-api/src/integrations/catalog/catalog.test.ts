/** The catalogue is data: these tests hold its shape. */
import Ajv from 'ajv/dist/2020';
import { providers } from './index';
import type { Provider, RequestTemplate } from './provider';

const ajv = new Ajv({ strict: false });
const each = providers.map((provider) => [provider.slug, provider] as const);

const gaps = (template: string): string[] => [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
const matches = (host: string, pattern: string): boolean =>
  pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : host === pattern;
/** Gaps of a host stay as they are, as both sides have them. */
const getHost = (url: string): string => /^https:\/\/([^/?]+)/.exec(url)?.[1] ?? '';
const listParameters = ({ parameters = [], learn = {} }: Provider) => [
  ...parameters.map(({ name }) => name),
  ...Object.keys(learn),
];
const listRequests = ({ account, tools }: Provider): RequestTemplate[] => [
  ...(account.request ? [account.request] : []),
  ...tools.map(({ request }) => request),
];

test('slugs are unique, and the required ones exist', () => {
  const slugs = providers.map(({ slug }) => slug);
  expect(new Set(slugs).size).toBe(slugs.length);
  expect(slugs).toEqual(
    expect.arrayContaining([
      ...['github', 'gitlab', 'gmail', 'google-drive', 'google-calendar', 'google-sheets', 'microsoft-365', 'slack'],
      ...['notion', 'linear', 'jira', 'asana', 'hubspot', 'salesforce', 'stripe', 'shopify', 'airtable', 'discord'],
      ...['zoom', 'dropbox', 'figma', 'sentry', 'pagerduty'],
    ]),
  );
});

describe.each(each)('%s', (_slug, provider) => {
  test('has https addresses that parse, and a description', () => {
    const { authorizeUrl, tokenUrl, refreshUrl, docsUrl, revoke, issuer } = provider;
    for (const url of [authorizeUrl, tokenUrl, refreshUrl, docsUrl, revoke?.url, issuer]) {
      if (url === undefined) continue;
      expect(url).toMatch(/^https:\/\//);
      expect(URL.canParse(url.replaceAll(/[{}]/g, ''))).toBe(true);
      for (const gap of gaps(url)) expect([...listParameters(provider), 'client_id', 'token']).toContain(gap);
    }
    expect(provider.protocol === 'oidc').toBe(issuer !== undefined);
    expect(provider.logo).toMatch(/^[A-Z]{1,3}$/);
    expect(provider.tools.length).toBeGreaterThan(0);
  });

  test('sends tokens only to its own hosts', () => {
    for (const { url } of listRequests(provider)) {
      const host = getHost(url);
      if (provider.learn?.[gaps(host)[0] ?? '']) continue;
      expect(provider.hosts.some((pattern) => matches(host, pattern))).toBe(true);
    }
    for (const host of provider.hosts) expect(host).toMatch(/^(\*\.)?[a-z0-9{}.-]+\.[a-z]{2,}$/);
  });

  test('describes each scope, and requests some', () => {
    const names = provider.scopes.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const { name, description } of provider.scopes) {
      expect(name).toMatch(/^[!-~]+$/);
      expect(description.length).toBeGreaterThan(5);
    }
    for (const always of provider.alwaysScopes ?? []) expect(names).not.toContain(always);
  });

  test('has tools whose requests accept what their schemas declare', () => {
    const names = provider.tools.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const { name, description, inputSchema, request } of provider.tools) {
      expect(name).toMatch(/^[a-z][a-z0-9_]*$/);
      expect(description.length).toBeGreaterThan(5);
      expect(ajv.validateSchema(inputSchema)).toBe(true);
      const declared = Object.keys(inputSchema.properties as object);
      const ofUrl = gaps(request.url);
      const taken = [...ofUrl, ...(request.query ?? []), ...(request.json ?? [])];
      for (const gap of taken) expect([...declared, ...listParameters(provider)]).toContain(gap);
      for (const field of declared) expect(taken).toContain(field);
      const required = (inputSchema.required ?? []) as string[];
      for (const gap of ofUrl.filter((one) => declared.includes(one))) expect(required).toContain(gap);
    }
  });
});
