import type { Deps } from '../deps';
import { type Html, html } from '../rendering/html';
import type { SkillWithBody } from '../skills/skill';
import type { PageHead } from './layout';

export function buildSkillHead(skill: SkillWithBody, skillsUrl: string): PageHead {
  const { slug, title, description } = skill;
  return {
    title,
    description: description || `${formatByline(skill)}version ${skill.version}`,
    url: `${skillsUrl}/s/${slug}`,
    indexed: skill.visibility === 'public',
    kind: 'article',
    links: html`<link rel="alternate" type="text/markdown" href="/s/${slug}.md">
<link rel="alternate" type="application/json" href="/s/${slug}.json">`,
  };
}

type Addresses = Pick<Deps, 'skillsUrl' | 'dashboardUrl'>;

/** @param text the Markdown without its front matter, as markup */
export function renderSkillPage(skill: SkillWithBody, text: Html, { skillsUrl, dashboardUrl }: Addresses): Html {
  const { slug, title, description, tags, license, front_matter: front } = skill;
  const displayedTags = skill.override_tags ?? tags;
  return html`<article>
<header class="head">
${skill.visibility !== 'public' && html`<p class="badge">${skill.visibility === 'private' ? 'Private' : 'Unlisted: anyone with the link can read this skill'}</p>`}
<h1 dir="auto">${title}</h1>
${description && html`<p class="lead" dir="auto">${description}</p>`}
<p class="facts">${formatByline(skill)}version ${skill.version} · <time datetime="${skill.updated_at.toISOString()}">${formatDay(skill.updated_at)}</time>${license && html` · ${license}`}${front?.compatibility && html` · ${front.compatibility}`}</p>
${displayedTags.length > 0 && html`<ul class="tags" aria-label="Tags">${displayedTags.map((tag) => html`<li dir="auto"><a href="/?q=${encodeURIComponent(tag)}">${tag}</a></li>`)}</ul>`}
</header>
${renderInstallBox(skill, skillsUrl)}
<div class="text" dir="auto">
${text}
</div>
</article>
<footer class="formats">
<p>Also as <a href="/s/${slug}.md">Markdown</a>, <a href="/s/${slug}.json">JSON</a>, <a href="/s/${slug}.zip">zip with SKILL.md</a>. <a href="${dashboardUrl}/skills/${slug}">Save, share or edit it</a> when you are signed in.</p>
<p class="hash">SHA-256 of the text: <code>${skill.content_hash}</code></p>
</footer>`;
}

function renderInstallBox({ slug, visibility }: SkillWithBody, skillsUrl: string): Html {
  const header = visibility === 'private' ? '-H "Authorization: Bearer $SKILLS_KEY" ' : '';
  const folder = `.agents/skills/${slug}`;
  const source = `${skillsUrl}/.well-known/agent-skills/${slug}/SKILL.md`;
  return html`<details class="install">
<summary>Install in an agent</summary>
<p>Into the folder where your agent looks for skills; <code>.agents/skills</code> is one that many share.</p>
<pre tabindex="0" data-copy><code>mkdir -p ${folder} &amp;&amp; curl -fsSL ${header}${source} -o ${folder}/SKILL.md</code></pre>
<p>Or let the agent read it where it is:</p>
<pre tabindex="0" data-copy><code>curl -fsSL ${header}${skillsUrl}/s/${slug}.md</code></pre>
${visibility === 'private' && html`<p>This skill is private: set <code>SKILLS_KEY</code> to an API key (<code>rly_…</code>) or token with access to it.</p>`}
</details>`;
}

/** Accounts without a name are omitted: the email address is private. */
export const formatByline = ({ owner_name: name }: { owner_name: string | null }): string =>
  name ? `By ${name} · ` : '';

export const formatDay = (date: Date): string => date.toISOString().slice(0, 10);
