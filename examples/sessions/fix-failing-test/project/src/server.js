import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { renderPage } from './page.js';
import { routes } from './routes.js';

const port = Number(process.env.PORT ?? 4173);
const style = await readFile(new URL('../public/style.css', import.meta.url));

createServer((request, response) => {
  if (request.url === '/style.css') {
    response.setHeader('content-type', 'text/css').end(style);
  } else if (request.url === '/') {
    response.setHeader('content-type', 'text/html; charset=utf-8').end(renderPage(routes));
  } else {
    response.writeHead(404).end('Not found\n');
  }
  console.log(`${request.method} ${request.url} ${response.statusCode}`);
}).listen(port, () => console.log(`Ridgeline is at http://localhost:${port}`));
