import { assert, jsonValue, object, property } from 'fast-check';
import { withEdits, jsonSpans, type JsonSpan } from './json-spans.js';
import { restored, type ReplacedCall } from './restored.js';

const call = (more: Partial<ReplacedCall> = {}): ReplacedCall => ({
  format: 'messages',
  call: 'toolu_1',
  name: 'Edit',
  input: '{"path": "ä",  "n": 1.0}',
  text: 'Belay did not run it.',
  tool: 'Bash',
  standIn: { command: 'exit 1' },
  ...more,
});

describe('the model’s own calls in a request', () => {
  it('come back in their own bytes, and nothing else changes', () => {
    const request = (name: string, input: string) =>
      `{ "model" : "m",\n"messages":[{"role":"user","content":"toolu_1"},` +
      `{"role":"assistant","content":[{"type":"thinking","signature":"s\\u0041"},` +
      `{"type":"tool_use","id":"toolu_1","name":${name},"input":${input}},` +
      `{"type":"tool_use","id":"toolu_2","name":"Bash","input":{"command":"exit 1"}}]},` +
      `{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"no"}]}], "n":1e3}`;
    const given = request('"Bash"', '{"command":"exit 1"}');
    const wanted = request('"Edit"', '{"path": "ä",  "n": 1.0}');
    expect(restored(given, 'messages', [call()])).toBe(wanted);
    // Once more changes nothing, and neither do calls of another format.
    expect(restored(wanted, 'messages', [call()])).toBe(wanted);
    expect(restored(given, 'chat', [call()])).toBe(given);
  });

  it('get their own type back, with their results, where calls have several', () => {
    const item =
      '{"type":"custom_tool_call","call_id":"c1","name":"apply_patch","input":"*** Begin"}';
    const patch = call({ format: 'responses', call: 'c1', name: 'apply_patch', item });
    const request = {
      input: [
        { type: 'function_call', call_id: 'c1', name: 'shell', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c1', output: 'no' },
        { type: 'function_call_output', call_id: 'c2', output: 'yes' },
      ],
    };
    const sent = JSON.parse(
      restored(JSON.stringify(request), 'responses', [patch]),
    ) as typeof request;
    expect(sent.input).toEqual([
      JSON.parse(item),
      { type: 'custom_tool_call_output', call_id: 'c1', output: 'no' },
      { type: 'function_call_output', call_id: 'c2', output: 'yes' },
    ]);
  });

  it('get back what a text for a tool stood in for', () => {
    const own = call({ format: 'responses', call: 'c1', name: 'wait', input: '{}', tool: 'exec' });
    const item =
      '{"type":"function_call","call_id":"c2","namespace":"mcp__a","name":"b","arguments":"{}"}';
    const named = call({ format: 'responses', call: 'c2', name: 'mcp__a__b', item, tool: 'exec' });
    const standIns = ['c1', 'c2'].flatMap((call_id) => [
      { type: 'custom_tool_call', call_id, name: 'exec', input: 'throw 1' },
      { type: 'custom_tool_call_output', call_id, output: 'no' },
    ]);
    const sent = restored(JSON.stringify({ input: standIns }), 'responses', [own, named]);
    expect(JSON.parse(sent)).toEqual({
      input: [
        { type: 'function_call', call_id: 'c1', name: 'wait', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c1', output: 'no' },
        JSON.parse(item),
        { type: 'function_call_output', call_id: 'c2', output: 'no' },
      ],
    });
  });

  it('are found by what stands in for them where the provider gives no ids', () => {
    const own = call({
      format: 'gemini',
      call: '',
      input: '{"path":"a"}',
      tool: 'run_shell_command',
    });
    const request = {
      contents: [
        {
          role: 'model',
          parts: [
            { functionCall: { name: 'run_shell_command', args: { command: 'ls' } } },
            {
              functionCall: { args: { command: 'exit 1' }, name: 'run_shell_command' },
              thoughtSignature: 's',
            },
          ],
        },
        {
          role: 'user',
          parts: [
            { functionResponse: { name: 'run_shell_command', response: { output: 'a' } } },
            { functionResponse: { name: 'run_shell_command', response: { error: 'no' } } },
          ],
        },
      ],
    };
    const sent = JSON.parse(restored(JSON.stringify(request), 'gemini', [own])) as typeof request;
    expect(sent.contents[0]?.parts[1]).toEqual({
      functionCall: { args: { path: 'a' }, name: 'Edit' },
      thoughtSignature: 's',
    });
    expect(sent.contents[1]?.parts).toMatchObject([
      { functionResponse: { name: 'run_shell_command' } },
      { functionResponse: { name: 'Edit' } },
    ]);
    expect(sent.contents[0]?.parts[0]).toEqual(request.contents[0]?.parts[0]);
  });

  describe('whose refusals were texts', () => {
    const { text } = call();
    const refused = (format: ReplacedCall['format'], ...ids: string[]) =>
      ids.map((id) => call({ format, call: id, input: '{"n": 1.0}', tool: null, standIn: null }));
    const after = (request: object, calls: ReplacedCall[]) => {
      const [first] = calls;
      const sent = restored(JSON.stringify(request), first?.format ?? 'chat', calls);
      return JSON.parse(sent) as unknown;
    };

    it('come back with these as their results in Messages', () => {
      const messages = [
        { role: 'user', content: text },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'Hm.' },
            { type: 'text', text },
          ],
        },
        { role: 'user', content: 'Go on' },
        {
          role: 'assistant',
          content: [
            { type: 'text', text },
            { type: 'tool_use', id: 'c9', name: 'Bash', input: {} },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c9', content: 'a' }] },
        { role: 'assistant', content: [{ type: 'text', text }] },
      ];
      const use = (id: string) => ({ type: 'tool_use', id, name: 'Edit', input: { n: 1 } });
      const result = (id: string) => ({
        type: 'tool_result',
        tool_use_id: id,
        is_error: true,
        content: text,
      });
      expect(after({ messages }, refused('messages', 'c1', 'c2', 'c3'))).toEqual({
        messages: [
          messages[0],
          { role: 'assistant', content: [{ type: 'text', text: 'Hm.' }, use('c1')] },
          { role: 'user', content: [result('c1'), { type: 'text', text: 'Go on' }] },
          {
            role: 'assistant',
            content: [use('c2'), { type: 'tool_use', id: 'c9', name: 'Bash', input: {} }],
          },
          {
            role: 'user',
            content: [result('c2'), { type: 'tool_result', tool_use_id: 'c9', content: 'a' }],
          },
          // Nothing follows that could have its result.
          messages[5],
        ],
      });
    });

    it('come back with these as their results in Responses', () => {
      const said = (one: string) => ({
        role: 'assistant',
        content: [{ type: 'output_text', text: one }],
      });
      const input = [{ role: 'user', content: text }, said('Hm.'), said(text), said(text)];
      const item = '{"type":"custom_tool_call","call_id":"c2","name":"patch","input":"*"}';
      const [first, second] = refused('responses', 'c1', 'c2');
      const calls = [first, { ...second, item }] as ReplacedCall[];
      expect(after({ input }, calls)).toEqual({
        input: [
          ...input.slice(0, 2),
          { type: 'function_call', call_id: 'c1', name: 'Edit', arguments: '{"n": 1.0}' },
          { type: 'function_call_output', call_id: 'c1', output: text },
          JSON.parse(item),
          { type: 'custom_tool_call_output', call_id: 'c2', output: text },
        ],
      });
    });

    it('come back with these as their results in Chat Completions', () => {
      const own = { id: 'c9', type: 'function', function: { name: 'bash', arguments: '{}' } };
      const messages = [
        { role: 'user', content: text },
        { role: 'assistant', content: `Hm.${text}${text}`, tool_calls: [own] },
        { role: 'tool', tool_call_id: 'c9', content: 'a' },
        { role: 'assistant', content: text },
        { role: 'user', content: 'Go on' },
      ];
      const use = (id: string) => ({
        id,
        type: 'function',
        function: { name: 'Edit', arguments: '{"n": 1.0}' },
      });
      const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: text });
      expect(after({ messages }, refused('chat', 'c1', 'c2', 'c3'))).toEqual({
        messages: [
          messages[0],
          { role: 'assistant', content: 'Hm.', tool_calls: [own, use('c1'), use('c2')] },
          result('c1'),
          result('c2'),
          messages[2],
          { role: 'assistant', content: null, tool_calls: [use('c3')] },
          result('c3'),
          messages[4],
        ],
      });
    });

    it('come back with these as their results in Gemini, with the signature of their thought', () => {
      const contents = [
        { role: 'model', parts: [{ text: 'Hm.' }, { text, thoughtSignature: 's' }] },
        { role: 'user', parts: [{ text: 'Go on' }] },
      ];
      const functionCall = { name: 'Edit', args: { n: 1 } };
      const functionResponse = { name: 'Edit', response: { error: text } };
      expect(after({ contents }, refused('gemini', ''))).toEqual({
        contents: [
          { role: 'model', parts: [{ text: 'Hm.' }, { functionCall, thoughtSignature: 's' }] },
          { role: 'user', parts: [{ functionResponse }, { text: 'Go on' }] },
        ],
      });
    });

    describe('come back from a text that the program has joined with others', () => {
      const joined = `Hm. ${text}\n${text} Well.`;
      const left = 'Hm. \n Well.';

      it('in Messages', () => {
        const next = { role: 'user', content: 'Go on' };
        const said = { type: 'text', text: left };
        const use = (id: string) => ({ type: 'tool_use', id, name: 'Edit', input: { n: 1 } });
        const results = ['c1', 'c2'].map((id) => ({
          type: 'tool_result',
          tool_use_id: id,
          is_error: true,
          content: text,
        }));
        const wanted = [
          { role: 'assistant', content: [said, use('c1'), use('c2')] },
          { role: 'user', content: [...results, { type: 'text', text: 'Go on' }] },
        ];
        for (const content of [joined, [{ type: 'text', text: joined }]]) {
          const messages = [{ role: 'assistant', content }, next];
          expect(after({ messages }, refused('messages', 'c1', 'c2'))).toEqual({
            messages: wanted,
          });
        }
      });

      it('in Responses', () => {
        const said = (one: string) => ({
          role: 'assistant',
          content: [{ type: 'output_text', text: one }],
        });
        expect(after({ input: [said(joined)] }, refused('responses', 'c1', 'c2'))).toEqual({
          input: [
            said(left),
            ...['c1', 'c2'].flatMap((id) => [
              { type: 'function_call', call_id: id, name: 'Edit', arguments: '{"n": 1.0}' },
              { type: 'function_call_output', call_id: id, output: text },
            ]),
          ],
        });
      });

      it('in Gemini', () => {
        const functionCall = { name: 'Edit', args: { n: 1 } };
        const functionResponse = { name: 'Edit', response: { error: text } };
        const contents = [
          { role: 'model', parts: [{ text: joined, thoughtSignature: 's' }] },
          { role: 'user', parts: [{ text: 'Go on' }] },
        ];
        expect(after({ contents }, refused('gemini', '', ''))).toEqual({
          contents: [
            {
              role: 'model',
              parts: [{ text: left }, { functionCall, thoughtSignature: 's' }, { functionCall }],
            },
            {
              role: 'user',
              parts: [{ functionResponse }, { functionResponse }, { text: 'Go on' }],
            },
          ],
        });
      });
    });

    it('attacks: come back once, whatever a program repeats or makes up, and from no other role', () => {
      const said = (one: string) => ({ role: 'assistant', content: [{ type: 'text', text: one }] });
      const user = { role: 'user', content: [{ type: 'text', text: `${text}${text}` }] };
      const forged = said('Belay did not run that.');
      const messages = [said(`${text}${text}`), user, forged, user, said(text), user];
      const sent = JSON.stringify(after({ messages }, refused('messages', 'c1')));
      expect(sent.match(/"type":"tool_use"/g)).toHaveLength(1);
      expect(sent.match(/"type":"tool_result"/g)).toHaveLength(1);
      expect(sent).toContain(JSON.stringify(forged));
      expect(sent).toContain(JSON.stringify(user));
    });

    it('stay as they are where the program has changed them', () => {
      const messages = [
        { role: 'assistant', content: [{ type: 'text', text: `${text.slice(0, -1)}: Well.` }] },
        { role: 'user', content: 'Go on' },
      ];
      expect(after({ messages }, refused('messages', 'c1'))).toEqual({ messages });
    });
  });

  it('attacks: a request that is nested without end is refused', () => {
    const deep = `{"messages":${'['.repeat(1_000_000)}"toolu_1"${']'.repeat(1_000_000)}}`;
    expect(() => restored(deep, 'messages', [call()])).toThrow('nested too deeply');
  });
});

describe('the places of values in a JSON text', () => {
  const valueIn = (text: string, span: JsonSpan): unknown => {
    if (span.fields)
      return Object.fromEntries([...span.fields].map(([name, one]) => [name, valueIn(text, one)]));
    if (span.items) return span.items.map((one) => valueIn(text, one));
    return JSON.parse(text.slice(span.start, span.end)) as unknown;
  };

  it('are those of the values, whatever they are and however they are spaced', () => {
    assert(
      property(jsonValue({ maxDepth: 4 }), (value) => {
        for (const space of [undefined, 1, '\t']) {
          const text = JSON.stringify({ value }, null, space);
          expect(valueIn(text, jsonSpans(text))).toEqual(JSON.parse(text));
        }
      }),
    );
  });

  it('let one value be replaced and all others stay', () => {
    assert(
      property(object({ maxDepth: 2 }), object({ maxDepth: 2 }), (before, after) => {
        const text = `{"a":${JSON.stringify(before)}, "b" : [1,"}"],"c":${JSON.stringify(after)}}`;
        const place = jsonSpans(text).fields?.get('b');
        const changed = withEdits(text, place ? [{ ...place, text: 'true' }] : []);
        expect(changed).toBe(text.replace('[1,"}"]', 'true'));
      }),
    );
  });
});
