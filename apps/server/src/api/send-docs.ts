import { statSync } from 'node:fs';
import { extname } from 'node:path';
import { ownValue } from '@belay/protocol';
import type { Response } from 'express';
import { sendFile } from './send-file.js';

export const docsPath = '/docs';

/** The needed files of Swagger UI, from its package. */
const viewer: Readonly<Record<string, string>> = {
  '/docs/swagger-ui-bundle.js': require.resolve('swagger-ui-dist/swagger-ui-bundle.js'),
  '/docs/swagger-ui.css': require.resolve('swagger-ui-dist/swagger-ui.css'),
};

/** Sends the reference of the REST API and its parts; returns false for any other path. */
export function sendDocs(path: string, response: Response): boolean {
  if (path === docsPath || path === `${docsPath}/`) {
    response.type('html').send(page);
    return true;
  }
  if (path === startPath) {
    response.type('text/javascript').send(start);
    return true;
  }
  const file = ownValue(viewer, path);
  if (file === undefined) return false;
  response.type(extname(file)).set({
    'content-length': String(statSync(file).size),
    'cache-control': 'private, max-age=86400',
  });
  sendFile(file, response);
  return true;
}

const startPath = '/docs/start.js';

const page = `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Belay’s REST API</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
<script src="/docs/swagger-ui-bundle.js" defer></script>
<script src="${startPath}" defer></script>
<div id="reference"></div>
<noscript>This page needs JavaScript; /openapi.json is the document that it shows.</noscript>
`;

/** Requests are sent with the key of this page’s login (see login-script.ts), like those of the dashboard. */
const start = `addEventListener('DOMContentLoaded', () => {
  const key = localStorage.getItem('belay-key');
  window.reference = SwaggerUIBundle({
    url: '/openapi.json',
    dom_id: '#reference',
    deepLinking: true,
    docExpansion: 'none',
    filter: true,
    validatorUrl: null,
    requestInterceptor: (request) => {
      const isOurs = new URL(request.url, location.href).origin === location.origin;
      if (key && isOurs && !request.headers.Authorization) request.headers.Authorization = 'Bearer ' + key;
      return request;
    },
  });
});
`;
