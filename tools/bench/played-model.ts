import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the model replies with: a text, and a call unless it is the last reply. */
interface PlayedReply {
  text: string;
  call?: { name: string; input: object };
}

/** A step of an agent. */
export interface PlayedStep {
  /** From the end of the reply to the last byte of the next request. */
  ms: number;
  /** The bytes of that request. */
  bytes: number;
}

export interface PlayedModelOptions {
  /** How many steps are measured. */
  count: number;
  /** The reply to the request after this many steps. */
  replyAt(step: number): PlayedReply;
  /** Called with each request; the reply begins once it has resolved. */
  stepped?(step: number): Promise<void>;
}

/** A language model with an OpenAI-compatible API: it ignores its requests and replies at once. */
export async function openPlayedModel({ count, replyAt, stepped }: PlayedModelOptions) {
  const samples: PlayedStep[] = [];
  const { promise: steps, resolve } = Promise.withResolvers<PlayedStep[]>();
  let replied = 0;
  const server = createServer((request, response) => {
    let bytes = 0;
    request.on('data', (chunk: Buffer) => (bytes += chunk.length));
    const answer = async () => {
      if (replied > 0) samples.push({ ms: performance.now() - replied, bytes });
      const step = samples.length;
      if (step === count) resolve(samples);
      await stepped?.(step);
      sendPlayedReply(response, step, replyAt(step));
      response.once('finish', () => (replied = performance.now()));
    };
    request.on('end', () => {
      if (request.url === '/floor' || request.method === 'GET') return void response.end();
      answer().catch((error: unknown) => console.error(error));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    /** Resolves with all of them, in order. */
    steps,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Streams a reply, as an OpenAI-compatible API does. */
export function sendPlayedReply(
  response: ServerResponse,
  step: number,
  { text, call }: PlayedReply,
): void {
  const made = call && { name: call.name, arguments: JSON.stringify(call.input) };
  const tool = { index: 0, id: `call_${step}`, type: 'function', function: made };
  const delta = { role: 'assistant', content: text, ...(made && { tool_calls: [tool] }) };
  const chunk = (choice: object) =>
    `data: ${JSON.stringify({ id: `r${step}`, object: 'chat.completion.chunk', created: 0, model: 'bench', choices: [{ index: 0, ...choice }] })}\n\n`;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(chunk({ delta, finish_reason: null }));
  const end = chunk({ delta: {}, finish_reason: call ? 'tool_calls' : 'stop' });
  response.end(`${end}data: [DONE]\n\n`);
}
