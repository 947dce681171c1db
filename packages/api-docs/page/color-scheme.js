// Before the first paint. The key is the dashboard's, so that a choice made there holds here.
(() => {
  const KEY = 'mantine-color-scheme-value';
  const prefersDark = matchMedia('(prefers-color-scheme: dark)');

  function read() {
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null; // Storage may be forbidden; the system's preference then decides.
    }
  }
  const isDark = () => read() === 'dark' || (read() !== 'light' && prefersDark.matches);

  function apply(dark) {
    document.documentElement.classList.toggle('dark-mode', dark);
    document.getElementById('color-scheme')?.setAttribute('aria-pressed', String(dark));
  }

  apply(isDark());
  prefersDark.addEventListener('change', () => apply(isDark()));
  document.addEventListener('DOMContentLoaded', () => {
    apply(isDark());
    document.getElementById('color-scheme').addEventListener('click', () => {
      const dark = !document.documentElement.classList.contains('dark-mode');
      try {
        localStorage.setItem(KEY, dark ? 'dark' : 'light');
      } catch {
        // Then it holds for this page only.
      }
      apply(dark);
    });
  });
})();
