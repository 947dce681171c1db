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
    plugins: [readable],
    onComplete: () => listOperations(ui),
  });
})();

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
