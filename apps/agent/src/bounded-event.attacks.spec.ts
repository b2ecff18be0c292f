import { jsonFault } from '@belay/protocol';
import { boundedEvent } from './bounded-event.js';

const event = (action: string, args: Record<string, unknown>, message = 'm') => ({
  time: new Date().toISOString(),
  action,
  args,
  message,
});
const large = 'x'.repeat(50_000_000);

describe('attacks: the largest event of an agent', () => {
  it('a file of 50 MB that the user writes is in the log as its beginning', () => {
    const { args } = boundedEvent(event('files.write', { path: 'a', content: large }));
    expect(args).toMatchObject({ path: 'a' });
    expect(args['content']).toMatch(
      /^x+… \(50,000,000 characters; the rest is not kept in the log\)$/,
    );
    expect(jsonFault(args)).toBeUndefined();
  });

  it('a result that is too large is a failure that says so', () => {
    const args = { operation: 'files.list', ok: true, output: { large }, seconds: 1, images: [] };
    expect(boundedEvent(event('result', args)).args).toEqual({
      operation: 'files.list',
      ok: false,
      output: {
        code: 'too_large',
        message:
          'The output has more than 1,048,576 characters. Ask for less of it, or read it in pages.',
      },
      seconds: 1,
    });
  });

  it('leaves what fits as it is', () => {
    const fits = event('plan', { markdown: 'x'.repeat(100_000) });
    expect(boundedEvent(fits)).toEqual(fits);
    expect(boundedEvent(event('error', {}, large)).message).toHaveLength(20_000);
  });
});
