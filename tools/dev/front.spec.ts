import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createFront } from './front.ts';

/** The methods of the requests that reached the server. */
const reached: (string | undefined)[] = [];
let cutOff = 0;
const server = createServer((request, response) => {
  reached.push(request.method);
  if (cutOff-- > 0) request.socket.destroy();
  else response.end(`answer ${reached.length}`);
});
let isRunning = true;
const front = createFront({
  serverPort: () => Promise.resolve(isRunning ? String(portOf(server)) : undefined),
  modules: (() => undefined) as never,
  updates: createServer(),
});
const portOf = (listening: Server) => (listening.address() as AddressInfo).port;
const ask = (options: RequestInit = {}) => fetch(`http://127.0.0.1:${portOf(front)}/`, options);

beforeAll(async () => {
  for (const each of [server, front]) await once(each.listen(0, '127.0.0.1'), 'listening');
});
beforeEach(() => {
  reached.length = 0;
  isRunning = true;
});
afterAll(() => {
  for (const each of [server, front]) each.close();
});

it('asks the next server what an ending one did not answer', async () => {
  cutOff = 1;
  expect(await (await ask()).text()).toBe('answer 2');
  expect(reached).toEqual(['GET', 'GET']);
});

it.each([
  ['a request that may have changed something', 1, { method: 'POST', body: 'x' }, ['POST']],
  ['a second time', 2, {}, ['GET', 'GET']],
] as const)('does not repeat %s', async (_what, times, options, expected) => {
  cutOff = times;
  await expect(ask(options)).rejects.toThrow('fetch failed');
  expect(reached).toEqual(expected);
});

it('says so when there is no server', async () => {
  isRunning = false;
  const response = await ask();
  expect(response.status).toBe(503);
  expect(await response.text()).toMatch(/^The server is not running\./);
  expect(reached).toEqual([]);
});
