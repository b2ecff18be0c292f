import { processorMs } from '@belay/testing';
import { TestGateway, turn } from '../../testing/test-gateway.js';
import { ProviderServer, streaming } from '../testing/provider-server.js';
import { chatCompletions } from '../testing/provider-wires.js';
import { TagFilter } from './tag-filter.js';
import { toCall } from './tag-model.js';
import { readTags } from './tag-parser.js';

const offered = (name: string): boolean => ['terminal.run', 'files.write'].includes(name);

describe('the tag form', () => {
  it.each<[string, unknown[], Record<string, unknown>]>([
    ['{{terminal.run()}}', [], {}],
    ['{{terminal.run("a", 1, true, key="v")}}', ['a', 1, true], { key: 'v' }],
    [
      '{{ terminal.run ( -1.5e3 , null,\n a=[1, {"b": "c"}] , b = {} ) }}',
      [-1500, null],
      { a: [1, { b: 'c' }], b: {} },
    ],
    ['{{terminal.run("say \\"hi\\"\\n\\u00e4 }} )")}}', ['say "hi"\nä }} )'], {}],
    ['{{terminal.run("line 1\nline\t2")}}', ['line 1\nline\t2'], {}],
    [
      '{{files.write(path="a.js", content="""\nconst a = "{{x}}\\n";\n""")}}',
      [],
      { path: 'a.js', content: 'const a = "{{x}}\\n";\n' },
    ],
  ])('reads %s', (source, values, keyed) => {
    expect(readTags(`before ${source} after`, offered)).toEqual({
      text: 'before  after',
      tags: [
        { name: source.includes('files') ? 'files.write' : 'terminal.run', values, keyed, source },
      ],
    });
  });

  it.each([
    'Write {{ user.name }} in the template.',
    'Jinja has {{ url_for("index") }} for that.',
    '{{}} and {{ 1 }} and {single(1)}',
  ])('leaves text as it is: %s', (source) => {
    expect(readTags(source, offered)).toEqual({ text: source, tags: [] });
  });

  it('takes a name that is not offered for a call when it begins a line', () => {
    expect(readTags('So:\n  {{shell("ls")}}', offered).tags).toMatchObject([
      { name: 'shell', values: ['ls'] },
    ]);
  });

  it.each([
    ['{{terminal.run("ls)}}', 'A string does not end, at character 16 of the tag'],
    ['{{terminal.run(ls)}}', 'Expected a value in JSON, at character 16 of the tag'],
    ['{{terminal.run("ls" "-l")}}', 'Expected , or ), at character 21 of the tag'],
    [
      '{{terminal.run(a=1, 2)}}',
      'A value without a key follows one with a key, at character 22 of the tag',
    ],
    [
      '{{terminal.run("\\q")}}',
      'A string holds an escape that JSON does not know, at character 20 of the tag',
    ],
    ['{{terminal.run("ls")', 'Expected }} after ), at character 21 of the tag'],
  ])('says what is wrong with %s', (source, invalid) => {
    expect(readTags(source, offered).tags).toMatchObject([{ name: 'terminal.run', invalid }]);
  });

  it('streams the text without the tags, however it is cut', () => {
    const source =
      'I look.\n{{terminal.run("echo }} {{ \\"x\\"")}}\nThen {{ name }} and {{files.write("a", """x)}}""")}}!';
    const whole = readTags(source, offered).text;
    for (let size = 1; size <= source.length; size += 1) {
      const filter = new TagFilter(offered);
      let shown = '';
      for (let at = 0; at < source.length; at += size) {
        shown += filter.push(source.slice(at, at + size));
        expect(shown).not.toMatch(/terminal|files/);
      }
      expect(shown + filter.end()).toBe(whole);
    }
  });

  it.each(['no end of a tag', 'ends of tags }}'])(
    'attacks: streams a tag of 1 MB with %s in linear time',
    (line) => {
      const filter = new TagFilter(offered);
      const stream = () => {
        let shown = filter.push('{{files.write("a", "');
        for (let lines = 0; lines < 40_000; lines += 1) shown += filter.push(`${line} of many\n`);
        expect(shown + filter.push('")}}') + filter.end()).toBe('');
      };
      // 40,000 readings of all of it took minutes.
      expect(processorMs(stream)).toBeLessThan(20_000);
    },
  );

  it('attacks: a value of a million levels is refused', () => {
    const deep = `{{terminal.run(${'['.repeat(1_000_000)}`;
    const [tag] = readTags(deep, offered).tags;
    expect(tag?.invalid).toMatch('A value has more than 64 levels');
  });
});

describe('a tag of an action without parameters', () => {
  const list = { type: 'array', items: { type: 'string' } };
  const tool = { name: 'action_sing', description: 'Sings.', parameters: {} };
  const inputOf = (source: string, properties: object = { args: list }) => {
    const [tag] = readTags(source, () => true).tags;
    if (!tag) throw new Error('There is no tag.');
    const { input, invalid } = toCall(tag, { ...tool, parameters: { properties } });
    return invalid ?? input;
  };

  it.each([
    ['{{sing("la", "le", 3, loud=true)}}', { args: ['la', 'le', '3'], loud: true }],
    ['{{sing(["la", "le"])}}', { args: ['la', 'le'] }],
    ['{{sing()}}', {}],
  ])('takes its values for the list: %s', (source, input) => {
    expect(inputOf(source)).toEqual(input);
  });

  it('is none of an action that has others, or another of that name', () => {
    expect(inputOf('{{sing("la", "le")}}', { args: list, key: {} })).toEqual({
      args: 'la',
      key: 'le',
    });
    expect(inputOf('{{sing("la")}}', { args: { type: 'string' } })).toEqual({ args: 'la' });
  });
});

describe('a model without tool calling', () => {
  it('is told of the operations, calls them by tags and gets results as messages', async () => {
    const server = await ProviderServer.open();
    const test = await TestGateway.open(chatCompletions.environment(server.url));
    await test.session('openai-compatible:llama3?tools=tags&context=8192');
    const text =
      'I list the files.\n{{terminal.run("ls", wait=5)}}\n{{files.read(1, 2, 3, 4, 5, 6, 7)}}\n{{finish(}}';
    server.answer(
      streaming(chatCompletions.reply({ text })),
      streaming(chatCompletions.reply({ text: 'Done.' })),
    );
    const reply = await test.generate();
    expect(reply).toMatchObject({
      text: 'I list the files.',
      finish: 'calls',
      contextTokens: 8192,
    });
    expect(test.streamed().trim()).toBe('I list the files.');
    expect(reply.calls).toMatchObject([
      { operation: 'terminal.run', input: { command: 'ls', wait: 5 } },
      {
        operation: 'files.read',
        invalid: expect.stringMatching(/^files\.read takes \d values at most: path, /) as string,
      },
      {
        operation: 'finish',
        invalid: expect.stringContaining('Expected a value in JSON') as string,
      },
    ]);
    const [first] = server.requests;
    expect(first?.body).not.toHaveProperty('tools');
    expect(JSON.stringify(first?.body)).toContain('## terminal.run');
    const results = [
      {
        id: reply.calls[0]!.id,
        operation: 'terminal.run',
        output: { text: 'a.ts' },
        failed: false,
        images: [],
      },
    ];
    await test.generate(turn({ role: 'assistant', ...reply }, { role: 'tool', results }));
    const { messages } = server.requests[1]!.body as { messages: object[] };
    expect(messages.slice(2)).toEqual([
      { role: 'assistant', content: text },
      { role: 'user', content: '[result of terminal.run]\n{"text":"a.ts"}' },
    ]);
    await test.close();
    await server.close();
  });
});
