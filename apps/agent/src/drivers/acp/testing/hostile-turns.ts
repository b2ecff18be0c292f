import {
  anything,
  array,
  constantFrom,
  oneof,
  record,
  sample,
  string,
  type Arbitrary,
} from 'fast-check';

const large = 'ü'.repeat(2 ** 19);
const deep = (levels: number) => `${'{"a":['.repeat(levels)}${']}'.repeat(levels)}`;

/** Any value, often one that fits somewhere. */
const value: Arbitrary<unknown> = oneof(
  anything({ maxDepth: 3 }),
  string({ unit: 'binary' }),
  constantFrom(
    null,
    'conversation',
    'another',
    '__proto__',
    'constructor',
    '\ud800\u0000',
    1e308,
    [],
    {},
    { type: 'text', text: 'Said.' },
    { type: 'text', text: 5 },
    { command: 'ls' },
    { command: ['bash', '-lc', 7] },
    [{ type: 'diff', path: 'a'.repeat(9_000), newText: null }],
    [{ content: 'Look', priority: 'high', status: 'pending' }],
    [{ kind: 'allow_once', name: 'Yes', optionId: 'y' }],
    [{ path: '../../etc/passwd', line: -1 }],
  ),
);
const fields = (...names: string[]) =>
  record(Object.fromEntries(names.map((name) => [name, value])), { requiredKeys: [] });
const update = fields(
  'content',
  'entries',
  'kind',
  'title',
  'status',
  'rawInput',
  'rawOutput',
  'locations',
  '_meta',
  'configOptions',
  'currentModeId',
  'availableCommands',
  'used',
  'size',
);
const kinds = [
  'agent_message_chunk',
  'agent_thought_chunk',
  'user_message_chunk',
  'plan',
  'tool_call',
  'tool_call_update',
  'config_option_update',
  'current_mode_update',
  'available_commands_update',
  'usage_update',
  'toString',
  'made_up',
];
const ids = constantFrom('t1', 't2', '', 'x'.repeat(5_000), '__proto__');
const sessions = constantFrom('conversation', 'conversation', 'conversation', 'another', 7);
const session = { sessionId: sessions };
const notification = record({
  jsonrpc: constantFrom('2.0', '2.0', '2.0', '1.0', 2),
  method: constantFrom('session/update'),
  params: record({
    ...session,
    update: record({ sessionUpdate: constantFrom(...kinds), toolCallId: ids, fields: update }).map(
      ({ fields: more, ...known }) => ({ ...more, ...known }),
    ),
  }),
});
const requestIds = constantFrom<unknown>(0, 1, 2, 'a', '', null, 1.5, {}, 'i'.repeat(2_000));
const request = record({
  jsonrpc: constantFrom('2.0'),
  id: requestIds,
  method: constantFrom(
    'session/request_permission',
    'elicitation/create',
    'fs/read_text_file',
    'initialize',
    'made/up',
    'm'.repeat(9_000),
  ),
  params: oneof(
    fields('sessionId', 'toolCall', 'options', 'message', 'mode', 'requestedSchema'),
    record({
      sessionId: sessions,
      toolCall: record({ toolCallId: ids, kind: value }),
      options: value,
    }),
  ),
});
const answer = record(
  { jsonrpc: constantFrom('2.0', null), id: requestIds, result: value, error: value },
  { requiredKeys: ['jsonrpc', 'id'] },
);
const jsonLine = oneof(
  { weight: 6, arbitrary: notification },
  { weight: 3, arbitrary: request },
  { weight: 3, arbitrary: answer },
  { weight: 1, arbitrary: anything({ maxDepth: 4 }) },
).map(
  (message) =>
    JSON.stringify(message, (_, one: unknown) => (typeof one === 'bigint' ? `${one}` : one)) ?? '',
);
/** Bytes, because not every line is text. */
const line: Arbitrary<Buffer> = oneof(
  { weight: 20, arbitrary: jsonLine.map((text) => Buffer.from(text)) },
  { weight: 2, arbitrary: jsonLine.map((text) => Buffer.from(text.slice(0, text.length / 2))) },
  {
    weight: 2,
    arbitrary: constantFrom(
      Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x80, 0x7d]),
      Buffer.from(`{"jsonrpc":"2.0","method":"session/update","params":${deep(50_000)}}`),
      Buffer.from(`{"jsonrpc":"2.0","method":"session/update","params":${deep(30)}}`),
      Buffer.from(`{"jsonrpc":"2.0","method":"${large}"}`),
      Buffer.from(`{"jsonrpc":"2.0","id":"${large}","result":{}}`),
      Buffer.from(`{"jsonrpc":"2.0","id":"${large}","method":"session/request_permission"}`),
      Buffer.from(`{"a":[${'[],'.repeat(600_000)}[]]}`),
      Buffer.from('[{"jsonrpc":"2.0","method":"session/update"}]'),
      Buffer.from('{}'),
      Buffer.from(''),
    ),
  },
);
const turn = array(line, { minLength: 60, maxLength: 120, size: 'max' });

/** The lines of three turns, which are nearly messages of ACP; each seed has others. */
export const hostileTurns = (seed: number): Buffer[][] => sample(turn, { numRuns: 3, seed });
