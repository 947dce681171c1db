// Buttons that copy: made here, so that nobody sees one that can't do it.
for (const pre of document.querySelectorAll('pre')) {
  const code = pre.querySelector('code');
  if (!code || !navigator.clipboard) continue;
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  button.setAttribute('aria-live', 'polite');
  button.addEventListener('click', async () => {
    const copied = await navigator.clipboard.writeText(code.textContent.replace(/\n$/, '')).then(
      () => true,
      () => false,
    );
    button.textContent = copied ? 'Copied' : 'Not copied';
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 2000);
  });
  pre.prepend(button);
}
