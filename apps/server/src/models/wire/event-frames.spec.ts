import { assert, array, constantFrom, nat, property, string } from 'fast-check';
import { wires } from '../testing/provider-wires.js';
import { EventFrames, messageIn } from './event-frames.js';

/** The frames of these bytes when they arrive in pieces that end at `cuts`. */
function framesOf(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const splitter = new EventFrames();
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  const frames = ends.flatMap((end, index) =>
    splitter.add(bytes.subarray(ends[index - 1] ?? 0, end)),
  );
  return [...frames, splitter.end()].filter(({ length }) => length > 0);
}

describe('the frames of a stream', () => {
  const streams = wires.map((wire) => wire.reply({ text: 'Größe', reasoning: 'Hm…' }));

  it.each(['\n', '\r\n', '\r'])(
    'end at empty lines, however they arrive; line ends are %j',
    (end) => {
      const each = property(
        constantFrom(...streams),
        array(nat(), { maxLength: 20 }),
        (events, cuts) => {
          const wanted = events.map((event) => event.replaceAll('\n', end));
          const frames = framesOf(Buffer.from(wanted.join('')), cuts);
          expect(Buffer.concat(frames).toString()).toBe(wanted.join(''));
          // A carriage return may be parted from its line feed, which then begins the next frame.
          expect(frames.map((frame) => messageIn(frame)).filter(Boolean)).toEqual(
            events.map((event) => messageIn(Buffer.from(event))).filter(Boolean),
          );
        },
      );
      assert(each, { numRuns: 200 });
    },
  );

  it('are exactly the bytes of whatever a provider sends', () => {
    const lines = array(constantFrom('data: {', 'a', '\r', '\n', '\r\n', ':', '}', 'ü'));
    assert(
      property(lines, array(nat()), string(), (some, cuts, more) => {
        const bytes = Buffer.from(some.join('') + more);
        expect(Buffer.concat(framesOf(bytes, cuts)).equals(bytes)).toBe(true);
      }),
    );
  });

  it('are limited in size', () => {
    const splitter = new EventFrames();
    const much = Buffer.alloc(2 ** 20, 'a');
    const add = () => {
      for (let count = 0; count <= 8; count++) splitter.add(much);
    };
    expect(add).toThrow('too large');
  });
});
