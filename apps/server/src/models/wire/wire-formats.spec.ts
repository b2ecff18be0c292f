import type { WireFormatName } from '@belay/protocol';
import { RequestFields } from './json-fields.js';
import { wireFormats } from './wire-formats.js';

const read = (format: WireFormatName, body: object) =>
  wireFormats[format].read(new RequestFields(body), { model: 'm', isStream: true });

describe('what the server reads of requests', () => {
  it.each<[WireFormatName, object, { tools?: string[]; hosted?: string[] }]>([
    [
      'messages',
      { tools: [{ name: 'Bash' }, { type: 'custom', name: 'Edit' }] },
      { tools: ['Bash', 'Edit'] },
    ],
    ['messages', { tools: [{ type: 'bash_20250124', name: 'bash' }] }, { tools: ['bash'] }],
    ['messages', { tools: [{ type: 'web_fetch_20250910' }] }, { hosted: ['web_fetch_20250910'] }],
    [
      'messages',
      { tools: [{ type: 'code_execution_20250825' }] },
      { hosted: ['code_execution_20250825'] },
    ],
    [
      'messages',
      { tools: [{ type: 'not_known_yet_20270101' }] },
      { hosted: ['not_known_yet_20270101'] },
    ],
    ['messages', { mcp_servers: [{ url: 'https://a' }] }, { hosted: ['mcp_servers'] }],
    ['messages', { MCP_Servers: [{ url: 'https://a' }] }, { hosted: ['mcp_servers'] }],
    [
      'responses',
      {
        tools: [
          { type: 'function', name: 'shell' },
          { type: 'custom', name: 'patch' },
        ],
      },
      { tools: ['shell', 'patch'] },
    ],
    [
      'responses',
      { tools: [{ type: 'mcp' }, { type: 'code_interpreter' }] },
      { hosted: ['mcp', 'code_interpreter'] },
    ],
    [
      'responses',
      { tools: [{ type: 'namespace', tools: [{ name: 'a' }, { type: 'web_search' }] }] },
      { tools: ['a'], hosted: ['web_search'] },
    ],
    [
      'responses',
      {
        tools: [{ name: 'a' }],
        input: [
          {
            type: 'additional_tools',
            tools: [
              { type: 'namespace', name: 'functions', tools: [{ type: 'custom', name: 'exec' }] },
              { type: 'namespace', name: 'mcp__a', tools: [{ name: 'exec' }] },
              { type: 'web_search' },
            ],
          },
          { type: 'message', tools: [{ type: 'web_search' }] },
        ],
      },
      { tools: ['a', 'exec', 'mcp__a__exec'], hosted: ['web_search'] },
    ],
    [
      'responses',
      { tools: [{ type: 'shell', environment: { type: 'container_auto' } }] },
      { hosted: ['shell'] },
    ],
    [
      'responses',
      { tools: [{ type: 'shell', environment: { type: 'local' } }] },
      { tools: ['shell'] },
    ],
    [
      'chat',
      { tools: [{ type: 'function', function: { name: 'a' } }], functions: [{ name: 'b' }] },
      { tools: ['a', 'b'] },
    ],
    ['chat', { web_search_options: {} }, { hosted: ['web_search_options'] }],
    ['chat', { plugins: [{ id: 'web' }] }, { hosted: ['plugins'] }],
    ['gemini', { tools: [{ functionDeclarations: [{ name: 'a' }] }] }, { tools: ['a'] }],
    [
      'gemini',
      { tools: [{ function_declarations: [{ name: 'a' }], google_search: {} }] },
      { tools: ['a'], hosted: ['googlesearch'] },
    ],
    [
      'gemini',
      { tools: [{ codeExecution: {} }, { urlContext: {} }] },
      { hosted: ['codeexecution', 'urlcontext'] },
    ],
  ])('tells tools of the client from those of the provider: %s %j', (format, body, wanted) => {
    const { tools, hosted } = read(format, body);
    expect({ tools, hosted }).toEqual({ tools: [], hosted: [], ...wanted });
  });

  it.each<[WireFormatName, object, string]>([
    ['responses', { background: true }, 'background'],
    ['responses', { prompt: { id: 'p' } }, 'stored prompts'],
    ['chat', { n: 2 }, 'one reply only'],
    ['chat', { N: 2 }, 'one reply only'],
    ['gemini', { cachedContent: 'cachedContents/1' }, 'cached contents'],
    ['gemini', { generation_config: { candidate_count: 2 } }, 'one candidate only'],
    ['messages', { model: 'a', Model: 'b' }, 'twice'],
    ['gemini', { tools: [{ google_search: {}, googleSearch: {} }] }, 'twice'],
  ])('refuses what it cannot hold: %s %j', (format, body, sentence) => {
    expect(() => read(format, body)).toThrow(sentence);
  });

  it('reads the models that a server may use instead, and the longest reply', () => {
    expect(read('chat', { model: 'a', models: ['b', 'c'], max_tokens: 7 })).toMatchObject({
      models: ['a', 'b', 'c'],
      maxOutput: 7,
    });
    expect(read('gemini', { generationConfig: { maxOutputTokens: 9 } }).maxOutput).toBe(9);
    expect(read('responses', { max_output_tokens: -1 }).maxOutput).toBeNull();
  });
});
