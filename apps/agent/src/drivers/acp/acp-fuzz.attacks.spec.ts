import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
import { AcpStage } from './testing/acp-stage.js';

const hostileAgent = join(__dirname, 'testing/hostile-agent.mjs');
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
const lines = array(line, { minLength: 60, maxLength: 120, size: 'max' });

/** What the agent’s process would write to its own log, and what would end it. */
function watched() {
  const rejections: unknown[] = [];
  const note = (reason: unknown) => rejections.push(reason);
  process.on('unhandledRejection', note);
  process.on('uncaughtException', note);
  const printed = jest.spyOn(console, 'error').mockImplementation(() => undefined);
  return {
    rejections,
    printed: () => printed.mock.calls.map((parts) => JSON.stringify(parts)),
    end() {
      process.off('unhandledRejection', note);
      process.off('uncaughtException', note);
      printed.mockRestore();
    },
  };
}

let folder: string;
let acp: AcpStage;
let watch: ReturnType<typeof watched>;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'belay-hostile-'));
  watch = watched();
});
afterEach(async () => {
  await acp.close();
  watch.end();
  rmSync(folder, { recursive: true });
});

function begin(
  turns: readonly (readonly Buffer[] | Buffer)[],
  env: Record<string, string> = {},
): void {
  for (const [at, turn] of turns.entries()) {
    const bytes = Buffer.isBuffer(turn)
      ? turn
      : Buffer.concat(turn.flatMap((one) => [one, Buffer.from('\n')]));
    writeFileSync(join(folder, String(at + 1)), bytes);
  }
  acp = new AcpStage({
    task: 'Go',
    command: [process.execPath, hostileAgent],
    env: { HOSTILE_FOLDER: folder, ...env },
    approve: async () => ({ verdict: 'rejected', reason: 'No.' }),
  });
}

/** Every event is one that the server takes. */
const sentences = () => acp.events('attention', 'error').map(({ message }) => message);

describe('attacks: a program that sends what is not ACP', () => {
  it.each([1, 2, 3, 4, 5, 6])(
    'does not end the agent, which goes on and says so once (seed %i)',
    async (seed) => {
      const turns = sample(lines, { numRuns: 3, seed });
      begin(turns);
      const done = (nth: number) =>
        acp.stage.until(() => acp.events('end', 'error').length === nth);
      await done(1);
      for (const nth of [2, 3, 4]) {
        await acp.stage.message(`And ${nth}`);
        await done(nth);
      }
      expect(watch.rejections).toEqual([]);
      const told = sentences().filter((sentence) => sentence.startsWith('Fake sent'));
      expect(told).toEqual([
        expect.stringMatching(/^Fake sent a message that .{5,60}\. Such messages are skipped\.$/),
      ]);
      // The SDK’s own lines are short, whatever the message was.
      for (const text of watch.printed()) expect(text.length).toBeLessThan(300);
    },
  );

  it.each([
    ['in the middle of a message', Buffer.from('{"jsonrpc":"2.0","method":"session/upd')],
    ['after a line without end', Buffer.alloc(20_000_000, '{')],
    [
      'after many invalid messages',
      Buffer.from('{"jsonrpc":"2.0","id":9,"result":1}\n'.repeat(100)),
    ],
  ])('may end %s: the agent starts it again, and then says so', async (_, bytes) => {
    begin([bytes, bytes], { HOSTILE_END: '3' });
    const error = await acp.stage.event('error');
    expect(error.message).toBe('Fake ended (exit 3).');
    expect(watch.rejections).toEqual([]);
    await acp.stage.message('Again');
    await acp.stage.event('end');
  });

  it('is ended when it sends nothing else', async () => {
    const invalid = Buffer.from('{"jsonrpc":"2.0","id":9,"result":1}\n'.repeat(100_000));
    begin([invalid, invalid]);
    const error = await acp.stage.event('error');
    expect(error.message).toBe(
      'Fake was ended because it sent 1,000 messages that are not valid. Choose another version under Settings → Agents.',
    );
    expect(watch.printed()).toEqual([]);
  });
});
