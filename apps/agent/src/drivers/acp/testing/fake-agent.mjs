/**
 * An agent that speaks ACP over its standard streams, as a process of its own. A prompt that is a list in JSON is what
 * it does; any other one it repeats. Its conversations, and all that it was sent, are files in FAKE_HOME.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  agent,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  RequestError,
} from '@agentclientprotocol/sdk';

const {
  FAKE_HOME = '',
  FAKE_RESUME,
  FAKE_IMAGES,
  FAKE_LOGIN,
  FAKE_MUTE,
  FAKE_EXIT,
  FAKE_FRAIL,
  FAKE_SLOW,
  FAKE_STUBBORN,
  FAKE_BRITTLE,
  FAKE_MODEL = 'small',
} = process.env;
if (FAKE_EXIT) {
  process.stderr.write('Cannot read the settings.\n');
  process.exit(Number(FAKE_EXIT));
}

const received = (what) =>
  appendFileSync(join(FAKE_HOME, 'received.jsonl'), `${JSON.stringify(what)}\n`);
const fileOf = (id) => join(FAKE_HOME, `${id}.json`);
const prompts = (id) => JSON.parse(readFileSync(fileOf(id), 'utf8'));

let mode = 'default';
let model = FAKE_MODEL;
let fast = false;
let servers = [];
let isLoggedIn = !FAKE_LOGIN;
let cancelled = Promise.withResolvers();
const settings = () => ({
  configOptions: [
    {
      type: 'select',
      id: 'mode',
      name: 'Mode',
      category: 'mode',
      currentValue: mode,
      options: [
        { value: 'default', name: 'Default' },
        { value: 'plan', name: 'Plan' },
      ],
    },
    {
      type: 'select',
      id: 'model',
      name: 'Model',
      category: 'model',
      currentValue: model,
      options: [
        {
          group: 'all',
          name: 'All',
          options: ['small', 'large'].map((value) => ({ value, name: value })),
        },
      ],
    },
    { type: 'boolean', id: 'fast', name: 'Fast', currentValue: fast },
  ],
});

/** An option is to be set, which may be the last thing that happens. */
const beforeSetting = async () => {
  const mark = join(FAKE_HOME, 'broken');
  if (FAKE_STUBBORN) await new Promise(() => {});
  if (!FAKE_BRITTLE || existsSync(mark)) return;
  writeFileSync(mark, '');
  process.stderr.write('No such option.\n');
  process.exit(7);
};

const reopened = (id) => {
  if (!existsSync(fileOf(id))) throw RequestError.resourceNotFound(id);
  return settings();
};

const app = agent({ name: 'fake' })
  .onRequest(methods.agent.initialize, async ({ params }) => {
    received({ initialize: params });
    if (FAKE_MUTE) await new Promise(() => {});
    return {
      protocolVersion: PROTOCOL_VERSION,
      agentCapabilities: {
        loadSession: FAKE_RESUME === 'load',
        promptCapabilities: { image: FAKE_IMAGES !== undefined },
        sessionCapabilities: FAKE_RESUME === 'resume' ? { resume: {} } : {},
      },
      authMethods: [{ id: 'token', name: 'Token' }],
    };
  })
  .onRequest(methods.agent.authenticate, ({ params }) => {
    received({ authenticate: params });
    isLoggedIn = true;
    return {};
  })
  .onRequest(methods.agent.session.new, async ({ params }) => {
    received({ new: params });
    while (FAKE_SLOW && !existsSync(join(FAKE_HOME, FAKE_SLOW))) await sleep(5);
    servers = params.mcpServers;
    if (!isLoggedIn) throw RequestError.authRequired();
    const sessionId = `conversation-${Date.now()}-${process.pid}`;
    writeFileSync(fileOf(sessionId), '[]');
    return { sessionId, ...settings() };
  })
  .onRequest(methods.agent.session.resume, async ({ params }) => {
    received({ resume: params });
    while (FAKE_SLOW && !existsSync(join(FAKE_HOME, FAKE_SLOW))) await sleep(5);
    return reopened(params.sessionId);
  })
  .onRequest(methods.agent.session.load, async ({ params, client }) => {
    received({ load: params });
    const { sessionId } = params;
    const found = reopened(sessionId);
    for (const text of prompts(sessionId))
      await client.notify(methods.client.session.update, {
        sessionId,
        update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } },
      });
    return found;
  })
  .onRequest(methods.agent.session.setConfigOption, async ({ params }) => {
    received({ choose: params });
    await beforeSetting();
    if (params.configId === 'mode') mode = String(params.value);
    if (params.configId === 'model') model = String(params.value);
    if (params.configId === 'fast') fast = params.value === true;
    return { configOptions: settings().configOptions ?? [] };
  })
  .onRequest(methods.agent.session.setMode, async ({ params }) => {
    received({ setMode: params });
    await beforeSetting();
    return {};
  })
  .onNotification(methods.agent.session.cancel, () => {
    received({ cancel: true });
    cancelled.resolve();
  })
  .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
    received({ prompt: params.prompt });
    if (FAKE_FRAIL) {
      process.stderr.write('Out of ideas.\n');
      process.exit(7);
    }
    cancelled = Promise.withResolvers();
    const { sessionId } = params;
    const texts = params.prompt.flatMap((block) => (block.type === 'text' ? block.text : []));
    writeFileSync(fileOf(sessionId), JSON.stringify([...prompts(sessionId), ...texts]));
    return { stopReason: await new Turn(client, sessionId).run(stepsIn(texts.at(-1) ?? '')) };
  });

const stepsIn = (text) =>
  text.startsWith('[[') ? JSON.parse(text) : [['text', `Received: ${text}`]];

class Turn {
  constructor(client, sessionId) {
    this.client = client;
    this.sessionId = sessionId;
  }

  async run(steps) {
    for (const [name, ...args] of steps) {
      const reason = await this[name](...args);
      if (reason) return reason;
    }
    return 'end_turn';
  }

  text(text) {
    return this.update(chunk('agent_message_chunk', text));
  }

  thought(text) {
    return this.update(chunk('agent_thought_chunk', text));
  }

  async update(update, sessionId = this.sessionId) {
    await this.client.notify(methods.client.session.update, { sessionId, update });
  }

  foreign(text) {
    return this.update(chunk('agent_message_chunk', text), 'another');
  }

  write(path, text) {
    writeFileSync(path, text);
  }

  /**
   * Sends an update again and again, as fast as it is read; the file `sent` says how often. NUMBER stands for how
   * often, and LARGE for a megabyte.
   */
  async flood(times, update) {
    const params = { sessionId: this.sessionId, update };
    const method = methods.client.session.update;
    for (let sent = 1; sent <= times; sent += 1) {
      const text = JSON.stringify({ jsonrpc: '2.0', method, params })
        .replaceAll('NUMBER', String(sent))
        .replaceAll('LARGE', 'x'.repeat(1_000_000));
      if (!process.stdout.write(`${text}\n`)) await once(process.stdout, 'drain');
      writeFileSync(join(FAKE_HOME, 'sent'), String(sent));
    }
  }

  /** Asks the same many times at once. */
  async askAtOnce(times, params) {
    const method = methods.client.session.requestPermission;
    const asked = Array.from({ length: times }, (_, at) => {
      const text = JSON.stringify({ sessionId: this.sessionId, ...params });
      return this.client.request(method, JSON.parse(text.replaceAll('NUMBER', String(at))));
    });
    const answers = await Promise.all(asked);
    await this.text(`${answers.length} answers`);
  }

  print(text) {
    process.stdout.write(text);
  }

  exit(code, text) {
    process.stderr.write(text);
    process.exit(code);
  }

  /** Does a step in the first turn of this agent only. */
  once(name, ...args) {
    const mark = join(FAKE_HOME, 'done');
    if (existsSync(mark)) return undefined;
    writeFileSync(mark, '');
    return this[name](...args);
  }

  deaf() {
    return new Promise(() => {});
  }

  async wait() {
    await cancelled.promise;
    return 'cancelled';
  }

  stop(reason) {
    return reason;
  }

  fail(code, message, data) {
    throw new RequestError(code, message, data);
  }

  /** Calls tools of the first MCP server, one after the other, and says what it answered. */
  async tools(...calls) {
    const [{ command, args }] = servers;
    const server = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
    const version = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: {} };
    const all = [['initialize', version], ['tools/list', {}], ...calls];
    for (const [at, [method, params]] of all.entries()) {
      server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: at, method, params })}\n`);
      const { value } = await lines.next();
      received({ answer: value });
    }
    server.kill();
  }

  /** Calls its model, and waits for the whole reply. */
  async ask(url, token) {
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(url, { method: 'POST', headers, body: '{}' });
    received({ answer: await response.text() });
  }

  permit(params) {
    return this.call(methods.client.session.requestPermission, params);
  }

  elicit(params) {
    return this.call(methods.client.elicitation.create, params);
  }

  /** Calls the client, and says what it answered. */
  async call(method, params) {
    const answer = this.client.request(method, { sessionId: this.sessionId, ...params });
    const text = await answer.then(JSON.stringify, ({ code }) => `error ${code}`);
    received({ answer: text });
    await this.text(`${text}\n`);
  }
}

const chunk = (sessionUpdate, text) => ({ sessionUpdate, content: { type: 'text', text } });

app.connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
