import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { newSigningKey } from '@belay/proof';
import { publishedKeys } from '@belay/protocol';
import { listKeys } from './keys.js';

const { published } = newSigningKey();
const server = createServer((_, response) => {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ keys: [published] }));
});
let url: string;
beforeAll(async () => {
  process.env.BELAY_TOKEN = 'token';
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  delete process.env.BELAY_TOKEN;
  server.close();
  server.closeAllConnections();
});

async function listed(json: boolean): Promise<string> {
  const said: string[] = [];
  const write = jest
    .spyOn(process.stdout, 'write')
    .mockImplementation((text) => said.push(String(text)) > 0);
  await listKeys({ url, json });
  write.mockRestore();
  return said.join('');
}

describe('belay keys', () => {
  it('lists a key in a line, and says which one signs', async () => {
    expect(await listed(false)).toMatch(new RegExp(`^${published.kid} .*signs\\n$`));
  });

  it('prints in JSON what belay verify --keys reads', async () => {
    expect(publishedKeys.parse(JSON.parse(await listed(true)))).toEqual({ keys: [published] });
  });
});
