import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** `npx vite` serves the page with hot reload against a platform that runs on the default ports. */
const platform = { target: 'http://localhost:8081', changeOrigin: false };

export default defineConfig({
  plugins: [react()],
  build: {
    target: 'es2022',
    // Everything is a file of its own: the page runs under `script-src 'self'` and `style-src 'self'`.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 400,
  },
  server: { proxy: { '/api': platform, '/auth': platform } },
});
