import fc from 'fast-check';
import type { SessionAction } from '@belay/protocol';
import { processorMs } from '@belay/testing';
import type { ModelOutput } from '../model.js';
import { withActionTags } from './action-tags.js';
import { CodeState } from './code-state.js';
import { TagFilter } from './tag-filter.js';
import { readTags } from './tag-parser.js';

const offered = (name: string): boolean => name === 'say';
const tag = '{{say("hi")}}';
/** Fixed, so that a failure is the same everywhere; FUZZ_SEED searches elsewhere. */
const seed = Number(process.env['FUZZ_SEED'] ?? 20_261_122);

it.each([
  ['a fenced block', `So:\n\`\`\`\n${tag}\n\`\`\`\n`, 0],
  ['a longer fence', `\`\`\`\`md\n\`\`\`\n${tag}\n\`\`\`\`\n`, 0],
  ['a fence that does not end', `\`\`\`\n${tag}`, 0],
  ['inline code', `Write \`${tag}\` for that.`, 0],
  ['code with backticks in it', `\`\`a \` ${tag}\`\``, 0],
  ['the control: no code', `So: ${tag}`, 1],
  ['after a block', `\`\`\`\nx\n\`\`\`\n${tag}`, 1],
  ['after inline code', `\`x\` ${tag}`, 1],
  ['the line after a stray backtick', `It\`s\n${tag}`, 1],
  ['a text with a fence of its own', `{{say("""\n\`\`\`\n""")}} ${tag}`, 2],
])('tags in %s', (_, source, count) => {
  const { text, tags } = readTags(source, offered);
  expect(tags).toHaveLength(count);
  if (count === 0) expect(text).toBe(source);
});

const pieces = fc.array(
  fc.constantFrom(
    '`',
    '```',
    '\n',
    ' ',
    'x',
    tag,
    '{{',
    '}}',
    '{{say("""',
    '""")}}',
    '{{say()}}',
    '"',
    ')}}',
  ),
  { maxLength: 30 },
);

it('knows code however the text is cut', () => {
  fc.assert(
    fc.property(pieces, (parts) => {
      const cut = parts.reduce((state, part) => state.after(part), new CodeState());
      expect(cut.isCode).toBe(new CodeState().after(parts.join('')).isCode);
    }),
    { seed },
  );
});

it('streams the same text that the whole reply has', () => {
  fc.assert(
    fc.property(pieces, (parts) => {
      const filter = new TagFilter(offered);
      const shown = parts.map((part) => filter.push(part)).join('') + filter.end();
      expect(shown).toBe(readTags(parts.join(''), offered).text);
    }),
    // A text that ends only after what looked like tags.
    { seed, examples: [[['{{say("""', tag, tag, '`', '{{say("""']]] },
  );
});

it('takes linear time', () => {
  const read = () => {
    readTags('` {{ '.repeat(100_000), offered);
    readTags('```\n{{say('.repeat(50_000), offered);
  };
  expect(processorMs(read)).toBeLessThan(2_000);
});

describe('a reply without calls', () => {
  const action = (name: string): SessionAction => ({
    name,
    title: name,
    description: '',
    inputSchema: { type: 'object', properties: { text: {}, voice: {} } },
    permissions: {
      network: [],
      secrets: [],
      workspace: 'none',
      memory_mb: 64,
      timeout_seconds: 5,
      warm_seconds: 0,
    },
    image: 'i',
  });
  const reply = (text: string): ModelOutput => ({ text, calls: [], finish: 'stop' }) as never;
  const read = (text: string) => withActionTags(reply(text), [action('say')]);

  it('calls the actions that its tags name', () => {
    const { text, calls, finish } = read(
      'I say it.\n{{say("hi", voice="low")}}\n{{action.say("b")}}',
    );
    expect({ text, finish }).toEqual({ text: 'I say it.', finish: 'calls' });
    expect(calls).toMatchObject([
      { operation: 'action.say', input: { text: 'hi', voice: 'low' } },
      { operation: 'action.say', input: { text: 'b' } },
    ]);
  });

  it.each(['Write `{{say("hi")}}`.', '{{other("x")}}\n{{say("hi")}}', 'Plain.'])(
    'stays as it is: %s',
    (text) => expect(read(text)).toEqual(reply(text)),
  );
});
