import { toolResult } from './mcp-results.js';

const ids = { a: 'a'.repeat(64), b: 'b'.repeat(64), c: 'c'.repeat(64) };
const types: Record<string, string> = { [ids.a]: 'image/png', [ids.b]: 'audio/wav' };
const stored = (blob: string) => ({ type: types[blob] ?? '', bytes: Buffer.from(blob) });
const blobs = {
  get: (blob: string) => Promise.resolve(stored(blob)),
  getOf: (_: string, blob: string) => Promise.resolve(stored(blob)),
};
const file = (name: string, type: string, blob: string) => ({ name, type, blob, bytes: 1 });

it.each([
  ['s', `belay://sessions/s/blobs/${ids.c}`],
  ['', `belay://calls/blobs/${ids.c}`],
])('shows the picture and the sound of a result once, and links the rest', async (session, uri) => {
  const output = {
    text: 'drawn',
    images: [ids.a, ids.a],
    audio: [ids.b],
    files: [
      file('x.png', 'image/png', ids.a),
      file('again.png', 'image/png', ids.a),
      file('y.wav', 'audio/wav', ids.b),
      file('z.csv', 'text/csv', ids.c),
    ],
  };
  const { content, structuredContent } = await toolResult(blobs as never, {
    output,
    session,
    images: output.images,
  });
  expect(structuredContent).toEqual(output);
  expect(content).toMatchObject([
    { type: 'text', text: JSON.stringify(output) },
    { type: 'image', mimeType: 'image/png' },
    { type: 'audio', mimeType: 'audio/wav' },
    { type: 'resource_link', name: 'z.csv', mimeType: 'text/csv', uri },
  ]);
});
