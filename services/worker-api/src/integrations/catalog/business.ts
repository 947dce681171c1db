/** Customers, sales and payments. */
import {
  BEARER,
  buildRfc7009Revocation,
  integerField,
  object,
  type Provider,
  requiredField,
  stringArrayField,
  text,
  tool,
} from './provider';

export const hubspot: Provider = {
  slug: 'hubspot',
  name: 'HubSpot',
  description: 'Contacts, companies and deals',
  category: 'Business',
  logo: 'HS',
  docsUrl: 'https://developers.hubspot.com/docs/apps/legacy-apps/authentication/working-with-oauth',
  app: 'hubspot',
  protocol: 'oauth2',
  authorizeUrl: 'https://app.hubspot.com/oauth/authorize',
  tokenUrl: 'https://api.hubapi.com/oauth/v1/token',
  clientAuth: 'post',
  scopes: [
    { name: 'crm.objects.contacts.read', description: 'Read contacts', default: true },
    { name: 'crm.objects.contacts.write', description: 'Create and change contacts' },
    { name: 'crm.objects.companies.read', description: 'Read companies' },
    { name: 'crm.objects.companies.write', description: 'Create and change companies' },
    { name: 'crm.objects.deals.read', description: 'Read deals' },
    { name: 'crm.objects.deals.write', description: 'Create and change deals' },
  ],
  alwaysScopes: ['oauth'],
  hosts: ['api.hubapi.com'],
  send: BEARER,
  keysAreSentAlike: true,
  account: {
    request: { method: 'GET', url: 'https://api.hubapi.com/account-info/v3/details' },
    label: [['portalId']],
  },
  revoke: {
    method: 'DELETE',
    url: 'https://api.hubapi.com/oauth/v1/refresh-tokens/{token}',
    token: 'refresh',
    auth: 'none',
  },
  tools: [
    tool(
      'search_objects',
      'Finds contacts, companies or deals',
      {
        method: 'POST',
        url: 'https://api.hubapi.com/crm/v3/objects/{object_type}/search',
        reads: true,
        json: ['query', 'filterGroups', 'properties', 'limit', 'after'],
      },
      {
        object_type: requiredField(text('contacts, companies or deals')),
        query: text('Words'),
        filterGroups: { type: 'array', items: { type: 'object' }, description: "As HubSpot's API has them" },
        properties: stringArrayField('Names of properties to answer with'),
        limit: integerField('Items, at most', 200),
        after: text('paging.next.after of the page before'),
      },
    ),
    tool(
      'create_contact',
      'Creates a contact; needs the scope crm.objects.contacts.write',
      { method: 'POST', url: 'https://api.hubapi.com/crm/v3/objects/contacts', json: ['properties'] },
      { properties: requiredField(object('Such as {"email", "firstname", "lastname"}')) },
    ),
  ],
};

export const salesforce: Provider = {
  slug: 'salesforce',
  name: 'Salesforce',
  description: 'Objects of a Salesforce organization',
  category: 'Business',
  logo: 'SF',
  docsUrl: 'https://help.salesforce.com/s/articleView?id=xcloud.remoteaccess_oauth_web_server_flow.htm&type=5',
  app: 'salesforce',
  protocol: 'oauth2',
  authorizeUrl: 'https://login.salesforce.com/services/oauth2/authorize',
  tokenUrl: 'https://login.salesforce.com/services/oauth2/token',
  clientAuth: 'post',
  scopes: [{ name: 'api', description: 'Read and write what the person may, by the API', default: true }],
  alwaysScopes: ['refresh_token', 'id'],
  hosts: ['login.salesforce.com', '*.my.salesforce.com'],
  send: BEARER,
  account: {
    request: { method: 'GET', url: 'https://login.salesforce.com/services/oauth2/userinfo' },
    label: [['email'], ['preferred_username']],
  },
  learn: { instance: 'instance_url' },
  revoke: buildRfc7009Revocation('https://login.salesforce.com/services/oauth2/revoke', 'none'),
  tools: [
    tool(
      'query',
      'Reads records by SOQL',
      { method: 'GET', url: 'https://{instance}/services/data/v62.0/query', query: ['q'] },
      { q: requiredField(text('Such as: SELECT Id, Name FROM Account LIMIT 10')) },
    ),
    tool(
      'create_record',
      'Creates a record',
      {
        method: 'POST',
        url: 'https://{instance}/services/data/v62.0/composite/sobjects',
        json: ['records', 'allOrNone'],
      },
      {
        records: requiredField({
          type: 'array',
          items: { type: 'object' },
          maxItems: 200,
          description: '[{"attributes": {"type": "Contact"}, "LastName": ...}]',
        }),
        allOrNone: { type: 'boolean', description: 'None is created where one is refused' },
      },
    ),
  ],
};

export const stripe: Provider = {
  slug: 'stripe',
  name: 'Stripe',
  description: 'Payments, customers and invoices',
  category: 'Business',
  logo: 'ST',
  docsUrl: 'https://docs.stripe.com/connect/oauth-reference',
  app: 'stripe',
  protocol: 'oauth2',
  authorizeUrl: 'https://connect.stripe.com/oauth/authorize',
  tokenUrl: 'https://connect.stripe.com/oauth/token',
  clientAuth: 'post',
  // A platform may ask for one of them.
  scopes: [
    { name: 'read_only', description: 'Read everything', default: true },
    { name: 'read_write', description: 'Read and change everything' },
  ],
  hosts: ['api.stripe.com', 'files.stripe.com'],
  send: BEARER,
  keysAreSentAlike: true,
  account: {
    request: { method: 'GET', url: 'https://api.stripe.com/v1/account' },
    label: [['settings', 'dashboard', 'display_name'], ['email'], ['id']],
  },
  revoke: null,
  tools: [
    tool(
      'list_charges',
      'Lists charges, the latest first',
      { method: 'GET', url: 'https://api.stripe.com/v1/charges', query: ['customer', 'limit', 'starting_after'] },
      {
        customer: text('Only of this customer'),
        limit: integerField('Items, at most', 100),
        starting_after: text('Id of the last charge of the page before'),
      },
    ),
    tool(
      'search_customers',
      'Finds customers',
      { method: 'GET', url: 'https://api.stripe.com/v1/customers/search', query: ['query', 'limit', 'page'] },
      {
        query: requiredField(text("Such as: email:'ada@example.com'")),
        limit: integerField('Items, at most', 100),
        page: text('next_page of the page before'),
      },
    ),
    tool(
      'list_invoices',
      'Lists invoices, the latest first',
      {
        method: 'GET',
        url: 'https://api.stripe.com/v1/invoices',
        query: ['customer', 'status', 'limit', 'starting_after'],
      },
      {
        customer: text('Only of this customer'),
        status: text('draft, open, paid, uncollectible or void'),
        limit: integerField('Items, at most', 100),
        starting_after: text('Id of the last invoice of the page before'),
      },
    ),
  ],
};

export const shopify: Provider = {
  slug: 'shopify',
  name: 'Shopify',
  description: 'Products, orders and customers of a shop',
  category: 'Business',
  logo: 'SH',
  docsUrl: 'https://shopify.dev/docs/apps/build/authentication-authorization/access-tokens/authorization-code-grant',
  app: 'shopify',
  protocol: 'oauth2',
  authorizeUrl: 'https://{shop}.myshopify.com/admin/oauth/authorize',
  tokenUrl: 'https://{shop}.myshopify.com/admin/oauth/access_token',
  clientAuth: 'post',
  scopeSeparator: ',',
  scopes: [
    { name: 'read_products', description: 'Read products', default: true },
    { name: 'write_products', description: 'Create and change products' },
    { name: 'read_orders', description: 'Read orders', default: true },
    { name: 'read_customers', description: 'Read customers' },
  ],
  hosts: ['{shop}.myshopify.com'],
  send: { header: 'X-Shopify-Access-Token', prefix: '' },
  keysAreSentAlike: true,
  account: {
    request: {
      method: 'POST',
      url: 'https://{shop}.myshopify.com/admin/api/2026-01/graphql.json',
      fixed: { query: '{ shop { name } }' },
    },
    label: [['data', 'shop', 'name']],
  },
  parameters: [{ name: 'shop', label: 'Name of the shop', placeholder: 'acme, of acme.myshopify.com' }],
  revoke: null,
  tools: [
    tool(
      'graphql',
      'Asks the Admin API by GraphQL',
      {
        method: 'POST',
        url: 'https://{shop}.myshopify.com/admin/api/2026-01/graphql.json',
        json: ['query', 'variables'],
      },
      {
        query: requiredField(text('Such as: { products(first: 10) { nodes { id title } } }')),
        variables: object('Of the query'),
      },
    ),
  ],
};
