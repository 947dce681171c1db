import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig, type ProxyOptions } from 'vite';
import { readServiceLogos } from './service-logos.mjs';

const target = process.env.GANTRY_DASHBOARD_URL ?? 'http://localhost:8081';

/** `npm run dev` serves the page with hot reload against the platform, which accepts cookies only with its own origin. */
const platform: ProxyOptions = {
  target,
  configure: (proxy) => {
    proxy.on('proxyReq', (proxied, request) => {
      if (request.headers.origin === `http://${request.headers.host}`) proxied.setHeader('Origin', target);
    });
  },
};

export default defineConfig({
  plugins: [react()],
  define: { SERVICE_LOGOS: JSON.stringify(readServiceLogos()) },
  // From its sources, which need no build before this one.
  resolve: { alias: { '@gantry/sdk': fileURLToPath(new URL('../sdk/src/index.ts', import.meta.url)) } },
  build: {
    target: 'es2022',
    // Everything is a file of its own: the page runs under `script-src 'self'` and `style-src 'self'`.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 400,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            // Styles come in the order of main.tsx: Mantine's, then the components', which win.
            { name: 'shell', test: /src\/(shell|styles)\//, priority: 2 },
            // One file for all pages, instead of one for each component that two of them share. Tables are larger.
            { name: 'ui', test: /src\/ui\/(?!data-table|resource-table|table-model)/, priority: 1 },
          ],
        },
      },
    },
  },
  server: { proxy: { '/api': platform, '/auth': platform } },
});
