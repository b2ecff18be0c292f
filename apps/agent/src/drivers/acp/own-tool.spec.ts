import { isOwnTool } from './own-tool.js';

const tools = new Set(['browser_open']);
const of = (call: object) => isOwnTool({ toolCallId: 't', ...call }, tools);

it.each([
  ['its name', { name: 'mcp__belay__browser_open' }],
  ['its title', { kind: 'other', title: 'belay_browser_open' }],
  ['what a program adds', { _meta: { claudeCode: { toolName: 'mcp__belay__browser_open' } } }],
  ['the server that it names', { rawInput: { server: 'belay', tool: 'browser_open' } }],
])('knows a call of Belay’s own tools by %s', (_, call) => {
  expect(of(call)).toBe(true);
});

it.each([
  ['a command with such a title', { kind: 'execute', title: 'belay_browser_open' }],
  ['a title that only ends like one', { title: 'rm -r x; belay_browser_open' }],
  [
    'a command that names the server',
    { kind: 'execute', rawInput: { server: 'belay', tool: 'browser_open' } },
  ],
  ['another tool of the server', { name: 'mcp__belay__secrets' }],
  ['a tool of another server', { name: 'mcp__evil__browser_open' }],
  ['a tool whose title is one of Belay’s', { name: 'Bash', title: 'belay_browser_open' }],
])('does not take %s for one', (_, call) => {
  expect(of(call)).toBe(false);
});
