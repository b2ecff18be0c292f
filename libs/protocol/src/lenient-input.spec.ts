import { z } from 'zod';
import { lenientInput } from './lenient-input.js';
import { mcpOperation } from './mcp-operation.js';
import { operations, type OperationName } from './operations/index.js';

const read = (name: OperationName, input: unknown) => {
  const lenient = lenientInput(operations[name], input);
  return { ...lenient, parsed: operations[name].input.safeParse(lenient.input).data };
};

describe('the input of a call as models write it', () => {
  it.each<[OperationName, object, object]>([
    [
      'files.read',
      { file_path: 'a', offset: '10', limit: '20' },
      { path: 'a', offset: 10, limit: 20 },
    ],
    ['files.read', { filePath: 'a', start_line: 2, endLine: 3 }, { path: 'a', from: 2, to: 3 }],
    ['files.read', { path: 'a', from: null, to: null }, { path: 'a', from: 1 }],
    [
      'files.replace-text',
      { file_path: 'a', old_string: 'x', new_string: 'y', replace_all: 'true' },
      { path: 'a', find: 'x', replace: 'y', all: true },
    ],
    [
      'files.edit',
      { path: 'a', change: 'replace', from: '3', content: 'one line' },
      { change: 'REPLACE', from: 3, content: ['one line'] },
    ],
    [
      'files.edit',
      { path: 'a', change: 'INSERT', from: 1, content: '["a", "b"]' },
      { content: ['a', 'b'] },
    ],
    ['files.write', { path: 'a', text: 5 }, { content: '5' }],
    ['files.patch', { input: '*** Begin Patch' }, { patch: '*** Begin Patch' }],
    [
      'files.search',
      { query: 'x', ignore_case: 'True', '-C': '2' },
      { pattern: 'x', ignoreCase: true, context: 2 },
    ],
    ['terminal.run', { cmd: 'ls', wait: '5.5' }, { command: 'ls', wait: 5.5 }],
    ['terminal.run', { command: 'ls', until: { port: '80' } }, { until: { port: 80 } }],
    ['terminal.read', { until: '{"Text": "ready"}' }, { until: { text: 'ready' } }],
  ])('%s %j', (name, input, expected) => {
    const { parsed, ignored } = read(name, input);
    expect(parsed).toMatchObject(expected);
    expect(ignored).toEqual([]);
  });

  it('names what it does not know, and what is there twice', () => {
    const { input, ignored } = read('files.read', {
      path: 'a',
      file_path: 'b',
      cwd: '/',
      toString: 1,
    });
    expect(input).toEqual({ path: 'a' });
    expect(ignored).toEqual(['file_path', 'cwd', 'toString']);
  });

  it('names what a field within a field does not know', () => {
    const { input, ignored } = read('terminal.read', {
      until: { text: 'a', url: 'b', port: null },
    });
    expect(input).toEqual({ until: { text: 'a' } });
    expect(ignored).toEqual(['until.url']);
  });

  it('leaves to the schema what it cannot read', () => {
    for (const until of ['ready', '{"port"', '[]', 80])
      expect(read('terminal.read', { until }).input).toEqual({ until });
    expect(read('files.read', { path: 'a', from: 'ten' }).parsed).toBeUndefined();
    expect(read('files.read', { path: 'a', from: '0x10' }).parsed).toBeUndefined();
    expect(read('files.read', { path: null }).parsed).toBeUndefined();
    for (const odd of [null, 'text', ['a'], 7]) expect(read('files.read', odd).input).toBe(odd);
  });

  it('leaves the input of MCP tools alone', () => {
    const tool = mcpOperation({ server: 's', name: 't', title: null, description: '' } as never);
    const given = { file_path: '1', n: '2' };
    expect(lenientInput(tool, given)).toEqual({ input: given, ignored: [] });
  });

  it('has aliases for fields that are there only', () => {
    for (const { name, input, aliases } of Object.values(operations)) {
      const fields = input instanceof z.ZodObject ? Object.keys(input.shape) : [];
      for (const [alias, field] of Object.entries(aliases)) {
        expect([name, fields.includes(field)]).toEqual([name, true]);
        expect([name, fields.includes(alias)]).toEqual([name, false]);
      }
    }
  });
});
