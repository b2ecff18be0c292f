import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BelayServer } from '@belay/testkit';
import type { RunFile } from '../results/run-file.js';
import { checkModel } from './agent-of-run.js';

/** A provider with one model. */
const provider = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { model } = JSON.parse(Buffer.concat(chunks).toString() || '{}') as { model?: string };
    if (model !== 'known') {
      response.writeHead(404, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: `The model ${model} does not exist.` } }));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const choices = [{ index: 0, delta: { content: 'ok' }, finish_reason: 'stop' }];
    response.end(`data: ${JSON.stringify({ id: 'a', model, choices })}\n\ndata: [DONE]\n\n`);
  });
});
const server = new BelayServer();
beforeAll(async () => {
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  await server.start();
  const { port } = provider.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/v1`;
  await server.client.models.setProvider('openai-compatible', { url, key: 'k', unchecked: true });
});
afterAll(async () => {
  await server.dispose();
  provider.close();
});

const check = (model: string, agent = 'model') =>
  checkModel({ agent, model } as RunFile, () => ({ client: server.client, url: server.url }));

it('calls a model once before the first trial', async () => {
  await expect(check('openai-compatible:known')).resolves.toBeUndefined();
  await expect(check('openai-compatible:nope')).rejects.toThrow(
    /^openai-compatible:nope cannot be called: .*The model nope does not exist\./,
  );
  await expect(check('openai:gpt-5')).rejects.toThrow(/cannot be called: openai is not set up\./);
  await expect(check('nobody:x')).rejects.toThrow(/^There is no model nobody:x\. Name one as/);
});

it('makes no call for scripts or other agents', async () => {
  await expect(check('scripted:none.json')).resolves.toBeUndefined();
  await expect(check('openai-compatible:nope', 'oracle')).resolves.toBeUndefined();
});

it('calls the model of such an agent before the first trial, too', async () => {
  await expect(check('openai-compatible:nope', 'agent:other')).rejects.toThrow(/cannot be called/);
});
