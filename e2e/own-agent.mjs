/**
 * An agent of one's own that speaks ACP: it asks its model with chat completions, runs the calls of its tool `shell`,
 * and reports them. Without dependencies, so that it runs in every sandbox as a file of the workspace.
 */
import { spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';

const { OPENAI_BASE_URL, OPENAI_API_KEY, BELAY_MODEL } = process.env;
const messages = [];
let effort = 'medium';

const send = (message) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const update = (what) =>
  send({ method: 'session/update', params: { sessionId: 'only', update: what } });

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

const tools = [
  {
    type: 'function',
    function: { name: 'shell', parameters: { type: 'object', properties: { command: {} } } },
  },
];

/** The reply of the model, whose text is reported as it comes. */
async function reply() {
  const response = await fetch(`${OPENAI_BASE_URL}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${OPENAI_API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: BELAY_MODEL, messages, tools, stream: true }),
  });
  if (!response.ok) throw new Error(await response.text());
  let content = '';
  const calls = [];
  const lines = createInterface({ input: Readable.fromWeb(response.body) });
  for await (const line of lines) {
    if (!line.startsWith('data: {')) continue;
    const delta = JSON.parse(line.slice('data: '.length)).choices[0]?.delta ?? {};
    content += delta.content ?? '';
    if (delta.content)
      update({
        sessionUpdate: 'agent_message_chunk',
        content: { type: 'text', text: delta.content },
      });
    for (const { index, id, function: part } of delta.tool_calls ?? []) {
      const call = (calls[index] ??= {
        id,
        type: 'function',
        function: { name: '', arguments: '' },
      });
      call.function.name += part.name ?? '';
      call.function.arguments += part.arguments ?? '';
    }
  }
  return { role: 'assistant', content, ...(calls.length > 0 && { tool_calls: calls }) };
}

function runCall({ id: toolCallId, function: { name, arguments: input } }) {
  const rawInput = JSON.parse(input);
  const title = rawInput.command;
  update({ sessionUpdate: 'tool_call', toolCallId, title, name, kind: 'other', rawInput });
  const { stdout, status } = spawnSync('sh', ['-c', rawInput.command], { encoding: 'utf8' });
  update({
    sessionUpdate: 'tool_call_update',
    toolCallId,
    status: status === 0 ? 'completed' : 'failed',
    content: [{ type: 'content', content: { type: 'text', text: stdout } }],
  });
  messages.push({ role: 'tool', tool_call_id: toolCallId, content: stdout });
}

async function takeTurn(prompt) {
  const entries = [
    { content: 'Ask the model', status: 'completed', priority: 'high' },
    { content: 'Run what it says', status: 'pending', priority: 'medium' },
  ];
  update({ sessionUpdate: 'plan', entries });
  messages.push({ role: 'user', content: prompt.map(({ text }) => text).join('\n') });
  for (;;) {
    const said = await reply();
    messages.push(said);
    if (!said.tool_calls) return { stopReason: 'end_turn' };
    for (const call of said.tool_calls) runCall(call);
  }
}

const handlers = {
  initialize: () => ({ protocolVersion: 1, agentCapabilities: {} }),
  'session/new': () => ({ sessionId: 'only', ...settings() }),
  'session/set_config_option': ({ value }) => {
    effort = value;
    return settings();
  },
  'session/prompt': ({ prompt }) => takeTurn(prompt),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  // Not awaited: the client goes on asking during a turn.
  void Promise.resolve(params)
    .then(handlers[method])
    .then(
      (result) => send({ id, result }),
      ({ message }) => send({ id, error: { code: -32_603, message } }),
    );
}
