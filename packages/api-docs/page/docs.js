/* global SwaggerUIBundle */
(() => {
  const links = [...document.querySelectorAll('nav a')];
  const surfaceOf = (link) => new URL(link.href).searchParams.get('surface');
  const asked = new URLSearchParams(location.search).get('surface');
  const current = links.find((link) => surfaceOf(link) === asked) ?? links[0];
  current.setAttribute('aria-current', 'page');
  document.title = `${current.textContent} API · Gantry`;

  /** What the library draws in ways that a screen reader can't tell: a link inside a button, a choice without a name. */
  const readable = ({ React, specSelectors }) => ({
    wrapComponents: {
      DeepLink:
        () =>
        ({ text }) =>
          React.createElement('span', null, text),
      ServersContainer: () => () => {
        const address = specSelectors.servers().first()?.get('url');
        return React.createElement('p', { className: 'server' }, 'Server ', React.createElement('code', null, address));
      },
    },
  });

  /**
   * The library's own resolver of OpenAPI 3.1 normalizes the whole document for each operation that opens, in one to two
   * seconds. Our documents refer only to themselves.
   */
  const quickReferences = () => ({
    statePlugins: {
      spec: {
        wrapActions: {
          requestResolvedSubtree:
            (_original, { specActions, specSelectors }) =>
            (path) => {
              // The document is stored by the action that is still running.
              setTimeout(() => {
                const source = specSelectors.specJson();
                specActions.updateResolvedSubtree(path, resolveReferences(readPart(source, path), source));
              });
            },
        },
      },
    },
  });

  const ui = SwaggerUIBundle({
    url: `/openapi/${surfaceOf(current)}.yaml`,
    domNode: document.getElementById('reference'),
    deepLinking: true,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    defaultModelExpandDepth: 3,
    // A token typed here is forgotten with the page.
    persistAuthorization: false,
    // Else every document is sent to a validator elsewhere.
    validatorUrl: null,
    plugins: [readable, quickReferences],
    onComplete: () => listOperations(ui),
  });
})();

/** Reads a part of the document; an operation with the parameters that all operations of its path share. */
function readPart(source, path) {
  const part = source.getIn(path)?.toJS();
  const shared = path[0] === 'paths' && source.getIn([...path.slice(0, -1), 'parameters'])?.toJS();
  return shared ? { ...part, parameters: [...shared, ...(part.parameters ?? [])] } : part;
}

/** Replaces references to components by what they name, which a schema shows; one within itself is left out. */
function resolveReferences(value, source, open = []) {
  if (Array.isArray(value)) return value.map((item) => resolveReferences(item, source, open));
  if (typeof value !== 'object' || value === null) return value;
  const { $ref: reference, ...own } = value;
  if (typeof reference !== 'string') {
    const entries = Object.entries(value).map(([key, one]) => [key, resolveReferences(one, source, open)]);
    return mergeAllOf(Object.fromEntries(entries));
  }
  if (open.includes(reference)) return own;
  const path = reference.slice('#/'.length).split('/');
  const named = { ...(path[1] === 'schemas' && { title: path.at(-1) }), ...source.getIn(path)?.toJS() };
  return resolveReferences({ ...named, ...own }, source, [...open, reference]);
}

/** Shows an object that is put together from several as one. */
function mergeAllOf(schema) {
  if (!Array.isArray(schema.allOf)) return schema;
  const { allOf, ...own } = schema;
  const parts = [...allOf.map(({ title, ...part }) => part), own];
  const merged = Object.assign({}, ...parts);
  if (parts.some(({ properties }) => properties))
    merged.properties = Object.assign({}, ...parts.map(({ properties }) => properties));
  if (parts.some(({ required }) => required))
    merged.required = [...new Set(parts.flatMap(({ required = [] }) => required))];
  return merged;
}

/** Fills the sidebar: every operation under its tag, found by the words of its path, summary and description. */
function listOperations(ui) {
  function open(tag, id) {
    const ofTag = ['operations-tag', tag];
    // Each of these writes the address.
    if (!ui.layoutSelectors.isShown(ofTag, true)) ui.layoutActions.show(ofTag, true);
    ui.layoutActions.show(['operations', tag, id], true);
    // A tag that was closed is drawn now.
    setTimeout(() => document.getElementById(`operations-${tag.replaceAll(' ', '_')}-${id}`)?.scrollIntoView());
  }

  function linkTo(tag, operation) {
    const { summary, description } = operation.get('operation').toObject();
    const id = operation.getIn(['operation', 'operationId']);
    const link = element('a', summary);
    link.href = `#/${tag.replaceAll(' ', '%20')}/${id}`;
    const method = element('span', operation.get('method').toUpperCase());
    method.className = 'method';
    link.prepend(method, ' ');
    link.addEventListener('click', (event) => {
      event.preventDefault();
      open(tag, id);
    });
    return { link, words: [link.textContent, operation.get('path'), id, description].join(' ').toLowerCase() };
  }

  const sections = ui.specSelectors
    .taggedOperations()
    .entrySeq()
    .toArray()
    .map(([tag, group]) => {
      const section = element('section');
      const links = group
        .get('operations')
        .toArray()
        .map((operation) => linkTo(tag, operation));
      section.append(element('h2', tag), ...links.map(({ link }) => link));
      return { section, links };
    });
  const none = element('p', 'No operation has these words.');
  document.getElementById('operations').replaceChildren(none, ...sections.map(({ section }) => section));

  const all = sections.flatMap(({ links }) => links);
  const search = document.getElementById('search');
  function show() {
    const asked = search.value.toLowerCase().split(/\s+/);
    for (const { link, words } of all) link.hidden = !asked.every((word) => words.includes(word));
    for (const { section, links } of sections) section.hidden = links.every(({ link }) => link.hidden);
    none.hidden = sections.some(({ section }) => !section.hidden);
  }
  search.addEventListener('input', show);
  search.addEventListener('keydown', ({ key }) => {
    if (key === 'Enter') all.find(({ link }) => !link.hidden)?.link.click();
  });
  show();
  // The library scrolls to what the address names before it knows how long the page is.
  all.find(({ link }) => link.hash === location.hash)?.link.click();
}

function element(name, text = '') {
  return Object.assign(document.createElement(name), { textContent: text });
}
