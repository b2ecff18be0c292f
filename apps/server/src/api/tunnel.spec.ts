import { once } from 'node:events';
import { createServer } from 'node:http';
import { TestServer } from '../testing/server.js';
import { PublicUrl } from './public-url.js';
import { openTunnel } from './tunnel.js';

describe('a tunnel', () => {
  const server = new TestServer();
  beforeAll(() => server.start());
  afterAll(() => server.close());

  const tunnel = { kind: 'ngrok', token: 't' } as const;
  const url = 'https://abc.ngrok.example';
  const forwarded: object[] = [];
  const ngrok =
    (forward: () => Promise<string | null> = () => Promise.resolve(url)) =>
    () =>
      Promise.resolve({
        forward: async (options: object) => {
          forwarded.push(options);
          const found = await forward();
          return { url: () => found, close: () => Promise.resolve() };
        },
      });

  it('is opened to this server when it is asked for, and its address is the public one', async () => {
    expect(await openTunnel({ tunnel: undefined }, server.url, ngrok())).toBeUndefined();
    const opened = await openTunnel({ tunnel }, server.url, ngrok());
    expect(opened).toMatchObject({ url });
    expect(forwarded).toEqual([{ addr: server.url, authtoken: 't' }]);
    server.app.get(PublicUrl).set(`${url}/`);
    const schema = await (await server.fetch('/gpt/openapi.json', { token: '' })).json();
    expect(schema).toMatchObject({ servers: [{ url }] });
  });

  it('says what is missing: token, package, network', async () => {
    const opening = (load?: Parameters<typeof openTunnel>[2], token: string | undefined = 't') =>
      openTunnel({ tunnel: { kind: 'ngrok', token } }, server.url, load);
    await expect(
      openTunnel({ tunnel: { kind: 'ngrok', token: undefined } }, server.url, ngrok()),
    ).rejects.toThrow('set NGROK_AUTHTOKEN');
    await expect(opening()).rejects.toThrow('npm install --no-save @ngrok/ngrok');
    const refused = ngrok(() => Promise.reject(new Error('failed to dial\nmore')));
    await expect(opening(refused)).rejects.toThrow('ngrok did not open a tunnel (failed to dial).');
  });

  it('attacks: is not opened to a server that asks for no token', async () => {
    const open = createServer((_, response) => response.end('[]')).listen(0, '127.0.0.1');
    await once(open, 'listening');
    const { port } = open.address() as { port: number };
    forwarded.length = 0;
    await expect(openTunnel({ tunnel }, `http://127.0.0.1:${port}`, ngrok())).rejects.toMatchObject(
      {
        code: 'forbidden',
      },
    );
    expect(forwarded).toEqual([]);
    open.close();
  });
});
