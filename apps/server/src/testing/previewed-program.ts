import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
} from 'node:http';
import type { Socket } from 'node:net';
import { WebSocketServer } from 'ws';

/** A development server in the sandbox: pages, one WebSocket that repeats, and what a hostile program answers. */
export function previewedProgram(): { server: Server; seen: IncomingHttpHeaders[] } {
  const seen: IncomingHttpHeaders[] = [];
  const server = createServer((asked, response) => {
    seen.push(asked.headers);
    const path = asked.url?.split('?')[0];
    if (path === '/hostile')
      return response
        .writeHead(200, {
          'set-cookie': [
            'sid=1; Domain=localhost; Path=/x; SameSite=Strict',
            '__Host-belay_preview=stolen; Path=/',
            'belay_4600=stolen',
          ],
          'clear-site-data': '"*"',
          'service-worker-allowed': '/',
          'strict-transport-security': 'max-age=9',
          'access-control-allow-origin': '*',
          'x-frame-options': 'DENY',
          'x-accel-redirect': '/secret',
          refresh: '0;url=http://evil.example',
          link: '<https://secret.evil.example>; rel=preconnect',
          'content-security-policy': "default-src 'self'; frame-ancestors *",
        })
        .end('page');
    if (path === '/to') {
      const location = new URLSearchParams(asked.url?.split('?')[1]).get('at') ?? '';
      return response.writeHead(302, { location }).end();
    }
    if (path === '/huge-head')
      return response.writeHead(200, { 'x-huge': 'x'.repeat(100_000) }).end('page');
    if (path === '/silent') return;
    if (path === '/endless') {
      const chunk = Buffer.alloc(2 ** 16);
      const more = (): void => {
        while (response.write(chunk));
        response.once('drain', more);
      };
      return more();
    }
    if (path === '/broken') return void asked.socket.end('HTTP/1.1 200 OK\r\nx y z\r\n\r\n');
    if (asked.method === 'POST') return void asked.pipe(response);
    response.end(`hello from ${asked.url}`);
  });
  server.on('upgrade', (asked: IncomingMessage, socket: Socket) => {
    if (asked.url !== '/away') return;
    const head = ['HTTP/1.1 101 Away', 'connection: Upgrade', 'upgrade: websocket'];
    socket.write(`${[...head, 'location: http://localhost:0/'].join('\r\n')}\r\n\r\n`);
  });
  const sockets = new WebSocketServer({ server, path: '/hot' });
  sockets.on('connection', (socket, { headers }) => {
    seen.push(headers);
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
  });
  return { server, seen };
}
