import { toMcpOutput } from './mcp-output.js';

const textsOf = (...texts: string[]) => texts.map((text) => ({ type: 'text' as const, text }));
const outputOf = (
  content: ReturnType<typeof textsOf>,
  structuredContent: Record<string, unknown>,
) => toMcpOutput({ content, structuredContent }, () => Promise.resolve('blob'));

it.each([
  ['an object', textsOf('{"a": 1}'), { a: 1 }],
  ['a wrapped text', textsOf('zzz'), { result: 'zzz' }],
  ['a wrapped text that looks like a number', textsOf('12'), { result: '12' }],
  ['a wrapped number', textsOf('12'), { result: 12 }],
  ['a wrapped object', textsOf('{"a": 1}'), { result: { a: 1 } }],
  ['a wrapped list as one text', textsOf('[1, 2]'), { result: [1, 2] }],
  ['a wrapped list as a text for each item', textsOf('a', '2'), { result: ['a', 2] }],
])('shows %s once', async (_, content, structured) => {
  const text = content.map((part) => part.text).join('\n');
  expect(await outputOf(content, structured)).toEqual({ text });
});

it.each([
  ['another value', textsOf('mild'), { degrees: 21 }],
  ['another result', textsOf('done'), { result: 'zzz' }],
  ['more than the result', textsOf('zzz'), { result: 'zzz', more: true }],
  ['an empty list', [], { result: [] }],
])('keeps structured content that is %s', async (_, content, structuredContent) => {
  expect(await outputOf(content, structuredContent)).toMatchObject({ structuredContent });
});
