import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from '@belay/testing';
import { streaming, type ProviderAnswer, type ProviderServer } from '../testing/provider-server.js';
import { anthropicMessages } from '../testing/provider-wires.js';
import { messagesPath, messagesRequest, WireBench } from '../testing/wire-bench.js';

const call = { id: 'toolu_1', name: 'bash', input: '{"command":"id"}' };
const mebibyte = 2 ** 20;

describe('attacks: replies of a hostile provider', () => {
  const wire = anthropicMessages;
  let provider: ProviderServer;
  let bench: WireBench;
  beforeEach(async () => {
    bench = await WireBench.open(wire);
    ({ provider } = bench);
    await bench.session();
  });
  afterEach(() => bench.close());
  const typed =
    (type: string, body: string, status = 200, headers = {}): ProviderAnswer =>
    (response) =>
      void response.writeHead(status, { 'content-type': type, ...headers }).end(body);
  const settled = () =>
    until('it is settled', async () => (await bench.logs.log.summary('s')).openRequests === 0);
  /** The control: the next request is served. */
  const isUnharmed = async (): Promise<void> => {
    await settled();
    const events = wire.reply({ text: 'Yes.' });
    provider.answer(streaming(events));
    expect(await (await bench.post(messagesPath, messagesRequest())).text()).toBe(events.join(''));
  };

  it('a stream without end is read no faster than its client reads, and ends with it', async () => {
    let written = 0;
    provider.answer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const frame = `: ${'a'.repeat(mebibyte)}\n\n`;
      const more = (): void => {
        while (!response.destroyed) {
          written += frame.length;
          if (!response.write(frame)) return void response.once('drain', more);
        }
      };
      more();
    });
    const leave = new AbortController();
    const response = await bench.post(messagesPath, messagesRequest(), { signal: leave.signal });
    await response.body?.getReader().read();
    let before = -1;
    await until('it waits for its client', () => {
      const isStill = written === before;
      before = written;
      return isStill;
    });
    expect(written).toBeLessThan(32 * mebibyte);
    leave.abort();
    await provider.abandoned.promise;
    await isUnharmed();
  });

  it('calls are held whatever type the reply says it has', async () => {
    await bench.approvals.turnTo('s', 'plan');
    const events = wire.reply({ calls: [call] }).join('');
    const body = JSON.stringify({ content: [{ type: 'tool_use', ...call, input: {} }] });
    provider.answer(
      typed('text/plain', events),
      typed('text/html; charset=utf-8', events.replaceAll('\n', '\r\n')),
      typed('application/json', body),
    );
    for (let count = 0; count < 3; count++)
      await (await bench.post(messagesPath, messagesRequest())).text();
    // One that asks for no stream gets none.
    provider.answer(typed('text/event-stream', events), typed('text/plain', body));
    for (let count = 0; count < 2; count++)
      await (await bench.post(messagesPath, messagesRequest({ stream: false }))).text();
    expect(provider.requests).toHaveLength(5);
    const received = Buffer.concat(bench.received).toString();
    expect(received).not.toMatch(/tool_use|input_json_delta/);
    expect(received).toContain('Belay did not run');
    await isUnharmed();
  });

  it('more than 8 MiB of a call are not held, and none of it leaves', async () => {
    const events = wire.reply({ calls: [{ ...call, input: `"${'a'.repeat(9 * mebibyte)}"` }] });
    provider.answer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const event of events) response.write(event);
      response.end();
    });
    const reply = bench.post(messagesPath, messagesRequest()).then((response) => response.text());
    await expect(reply).rejects.toThrow();
    expect(Buffer.concat(bench.received).toString()).not.toContain('toolu_1');
    await isUnharmed();
  });

  it('redirects lead nowhere, and take no key along', async () => {
    const reached: string[] = [];
    const other = createServer((asked, response) => {
      reached.push(JSON.stringify(asked.headers));
      response.end();
    }).listen(0, '127.0.0.1');
    await until('it listens', () => other.listening);
    const location = `http://127.0.0.1:${(other.address() as AddressInfo).port}/v1/messages`;
    for (const status of [301, 302, 307, 308]) {
      provider.answer(typed('text/plain', '', status, { location }));
      const response = await bench.post(messagesPath, messagesRequest());
      expect(response.status).toBe(502);
      expect(await response.text()).toContain('redirects to another address');
    }
    expect(reached).toEqual([]);
    await new Promise((resolve) => other.close(resolve));
    await isUnharmed();
  });

  it('headers and frames without end are given up', async () => {
    provider.answer(typed('text/event-stream', '', 200, { 'request-id': 'a'.repeat(10_000) }));
    expect((await bench.post(messagesPath, messagesRequest())).headers.has('request-id')).toBe(
      false,
    );
    provider.answer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (let count = 0; count < 10; count++) response.write('a'.repeat(mebibyte));
    });
    const reply = bench.post(messagesPath, messagesRequest()).then((response) => response.text());
    await expect(reply).rejects.toThrow();
    await isUnharmed();
  });
});
