/**
 * A small agent as a user may have one: it calls chat completions, and its only tool is a shell. `acp` speaks the Agent
 * Client Protocol; otherwise the argument is its task, and more is typed. Like other agents, it repeats a request whose
 * reply broke off, and keeps its conversations in files. Without dependencies, so that it runs in every sandbox as a
 * file of the workspace.
 */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

const { OPENAI_BASE_URL, OPENAI_API_KEY, BELAY_MODEL, HOME = '/tmp' } = process.env;
const parameters = { type: 'object', properties: { command: { type: 'string' } } };
const bash = { name: 'bash', description: 'Runs a command.', parameters };

/** One reply of the model: its text, which is shown as it comes, and its calls. Throws when it breaks off. */
async function replyOnce(messages, show, signal) {
  const response = await fetch(`${OPENAI_BASE_URL}/chat/completions`, {
    method: 'POST',
    signal,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${OPENAI_API_KEY}` },
    body: JSON.stringify({
      model: BELAY_MODEL,
      stream: true,
      stream_options: { include_usage: true },
      messages,
      tools: [{ type: 'function', function: bash }],
    }),
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  const reply = { text: '', calls: [] };
  let isComplete = false;
  for await (const line of createInterface({ input: Readable.fromWeb(response.body) })) {
    if (line === 'data: [DONE]') isComplete = true;
    else if (line.startsWith('data: ')) show(add(reply, JSON.parse(line.slice(6))).text);
  }
  if (!isComplete) throw new Error('broken off');
  return reply;
}

function add(reply, { choices = [], error }) {
  if (error) throw new Error(`403 ${error.message}`);
  const { content = '', tool_calls = [] } = choices[0]?.delta ?? {};
  reply.text += content ?? '';
  for (const { index, id, function: part } of tool_calls) {
    const call = (reply.calls[index] ??= { id, name: part.name, input: '' });
    call.input += part.arguments ?? '';
  }
  return reply;
}

async function replyTo(messages, show, signal) {
  let shown = 0;
  // A repeated reply is shown from where the earlier one broke off.
  const showRest = (text) => {
    show.text(text.slice(shown));
    shown = Math.max(shown, text.length);
  };
  for (;;) {
    try {
      return await replyOnce(messages, showRest, signal);
    } catch (error) {
      if (signal.aborted || error.message.startsWith('4')) throw error;
      await sleep(200, undefined, { signal });
    }
  }
}

/** Runs a command; resolves with what it printed and its exit code. */
function run(command, signal) {
  return new Promise((resolve) => {
    const shell = spawn('sh', ['-c', command], { signal, stdio: ['ignore', 'pipe', 'pipe'] });
    let text = '';
    for (const stream of [shell.stdout, shell.stderr])
      stream.on('data', (bytes) => (text += bytes));
    shell.on('error', () => {});
    shell.on('close', (code) => resolve({ text, code }));
  });
}

/** Works on the newest message until a reply has no calls. */
async function work(conversation, show, signal) {
  const { messages } = conversation;
  for (;;) {
    const { text, calls } = await replyTo(messages, show, signal);
    const tool_calls = calls.filter(Boolean).map(({ id, name, input }) => ({
      id,
      type: 'function',
      function: { name, arguments: input },
    }));
    messages.push({
      role: 'assistant',
      content: text,
      ...(tool_calls.length > 0 && { tool_calls }),
    });
    show.ended(text);
    for (const { id, function: own } of tool_calls) {
      const { command } = JSON.parse(own.arguments);
      show.callBegan(id, command);
      const { text: content, code } = await run(command, signal);
      messages.push({ role: 'tool', tool_call_id: id, content });
      show.callEnded(id, content, code);
    }
    conversation.save();
    if (tool_calls.length === 0) return;
  }
}

class Conversation {
  constructor(id = randomUUID()) {
    this.id = id;
    this.file = join(HOME, `own-agent-${id}.json`);
    this.messages = existsSync(this.file) ? JSON.parse(readFileSync(this.file, 'utf8')) : [];
  }

  save() {
    writeFileSync(this.file, JSON.stringify(this.messages));
  }
}

let effort = 'medium';

/** The settings that it offers over ACP. */
const settings = () => ({
  configOptions: [
    {
      type: 'select',
      id: 'effort',
      name: 'Effort',
      currentValue: effort,
      options: [
        { value: 'medium', name: 'Medium effort' },
        { value: 'high', name: 'High effort' },
      ],
    },
  ],
});

const plan = [
  { content: 'Ask the model', status: 'completed', priority: 'high' },
  { content: 'Run what it says', status: 'pending', priority: 'medium' },
];

function speakAcp() {
  const send = (message) =>
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  let conversation;
  let cancel = new AbortController();
  const update = (update) =>
    send({ method: 'session/update', params: { sessionId: conversation.id, update } });
  const show = {
    text: (text) =>
      text && update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } }),
    ended: () => {},
    callBegan: (toolCallId, command) =>
      update({
        sessionUpdate: 'tool_call',
        toolCallId,
        title: command,
        name: bash.name,
        kind: 'execute',
        status: 'in_progress',
        rawInput: { command },
      }),
    callEnded: (toolCallId, text, code) =>
      update({
        sessionUpdate: 'tool_call_update',
        toolCallId,
        status: code === 0 ? 'completed' : 'failed',
        content: [{ type: 'content', content: { type: 'text', text } }],
      }),
  };
  const methods = {
    initialize: () => ({ protocolVersion: 1, agentCapabilities: { loadSession: true } }),
    'session/new': () => {
      conversation = new Conversation();
      conversation.save();
      return { sessionId: conversation.id, ...settings() };
    },
    'session/load': ({ sessionId }) => {
      conversation = new Conversation(sessionId);
      return settings();
    },
    'session/set_config_option': ({ value }) => {
      effort = value;
      return settings();
    },
    'session/prompt': async ({ prompt }) => {
      cancel = new AbortController();
      const content = prompt.map(({ text = '' }) => text).join('\n');
      conversation.messages.push({ role: 'user', content });
      conversation.save();
      update({ sessionUpdate: 'plan', entries: plan });
      try {
        await work(conversation, show, cancel.signal);
      } catch (error) {
        if (!cancel.signal.aborted) throw error;
      }
      return { stopReason: cancel.signal.aborted ? 'cancelled' : 'end_turn' };
    },
    'session/cancel': () => cancel.abort(),
  };
  const receive = async (line) => {
    const { id, method, params } = JSON.parse(line);
    if (!method) return;
    try {
      const result = await methods[method](params);
      if (id !== undefined) send({ id, result });
    } catch ({ message }) {
      send({ id, error: { code: -32603, message } });
    }
  };
  createInterface({ input: process.stdin }).on('line', (line) => void receive(line));
}

async function speakInTerminal(task) {
  const conversation = new Conversation();
  const show = {
    text: (text) => process.stdout.write(text),
    ended: (text) => text && console.log(),
    callBegan: (_id, command) => console.log(`$ ${command}`),
    callEnded: (_id, text) => process.stdout.write(text),
  };
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  const turn = async (content) => {
    conversation.messages.push({ role: 'user', content });
    await work(conversation, show, new AbortController().signal);
    process.stdout.write('\x07> ');
  };
  if (task) await turn(task);
  for await (const line of lines) {
    if (line === '/exit') break;
    await turn(line);
  }
  lines.close();
}

const [task = ''] = process.argv.slice(2);
if (task === 'acp') speakAcp();
else await speakInTerminal(task);
