import type { Message } from '@belay/protocol';
import { toPrompt } from './prompt.js';
import type { SdkProvider } from './sdk-provider.js';

const picture = 'a'.repeat(64);
const blob = async () => ({ type: 'image/png', bytes: new Uint8Array([1]) });

const messages: Message[] = [
  { role: 'system', text: 'Do' },
  { role: 'user', text: 'This', images: [] },
  ...Array.from({ length: 6 }, (_, index): Message[] => {
    const id = `c${index}`;
    const images = index % 3 === 0 ? [picture] : [];
    return [
      { role: 'assistant', text: `${index}`, calls: [{ id, operation: 'files.read', input: {} }] },
      {
        role: 'tool',
        results: [{ id, operation: 'files.read', output: { index }, failed: false, images }],
      },
    ];
  }).flat(),
];

describe.each([
  [
    'with marks and pictures in results',
    { cacheMark: { x: { mark: 1 } }, picturesInResults: true },
  ],
  ['without', { picturesInResults: false }],
])('the prompt of a provider %s', (_, options) => {
  const provider = (): SdkProvider => ({
    name: 'openai',
    model: null as never,
    listOfMessages: 'input',
    ...options,
  });

  it('is the same for messages that were sent before as for new ones', async () => {
    const kept = provider();
    for (let count = 1; count <= messages.length; count++) {
      const grown = messages.slice(0, count);
      const expected = await toPrompt(structuredClone(grown), provider(), blob);
      expect(await toPrompt(grown, kept, blob)).toEqual(expected);
    }
  });
});
