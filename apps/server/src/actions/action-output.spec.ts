import { actionArguments } from './action-arguments.js';
import { actionOutputOf, assertRan } from './action-output.js';
import { checkInput } from './check-input.js';
import { fileType } from './file-type.js';
import { PrintedOutput } from './printed-output.js';

const png = Buffer.from('iVBORw0KGgoAAAANSUhEUg==', 'base64');
const wav = Buffer.from('RIFF\0\0\0\0WAVEfmt ', 'latin1');

async function outputOf(text: string, more: { errors?: string; secrets?: string[] } = {}) {
  const printed = new PrintedOutput();
  printed.add({ isError: false, data: Buffer.from(text) });
  if (more.errors) printed.add({ isError: true, data: Buffer.from(more.errors) });
  const blobs: string[] = [];
  const put = async (bytes: Uint8Array, type: string) => {
    blobs.push(`${type} ${bytes.length}`);
    return String(blobs.length).repeat(64);
  };
  const left = { files: [{ name: 'tone', bytes: wav }], fault: 'One was left out.' };
  const ended = { printed, left, exitCode: 0, seconds: 1, refusals: ['It may not.'] };
  return { ...(await actionOutputOf({ ...ended, secrets: more.secrets ?? [] }, put)), blobs };
}

it('is text with what it left, types known by content', async () => {
  expect(await outputOf('hello\n', { errors: 'careful\n' })).toMatchObject({
    text: 'hello\n',
    errors: 'Belay refused a connection: It may not.\ncareful\nOne was left out.',
    files: [{ name: 'tone', type: 'audio/wav', blob: '1'.repeat(64), bytes: wav.length }],
    audio: ['1'.repeat(64)],
    images: [],
  });
});

it('reads JSON, and files in lines that are a data: address', async () => {
  expect(await outputOf('{"a": [1]}\n')).toMatchObject({ text: '', structured: { a: [1] } });
  expect(await outputOf('{"a": [1]\n')).toMatchObject({ text: '{"a": [1]\n' });
  const line = `data:text/plain;base64,${png.toString('base64')}`;
  const { text, images, files } = await outputOf(`Here:\n${line}\nand ${line}`);
  expect(text).toBe(`Here:\nand ${line}`);
  expect(images).toHaveLength(1);
  expect(files[1]).toMatchObject({ name: 'printed-1.png', type: 'image/png' });
});

it('keeps the whole of a long text, and no secret', async () => {
  const { text, full, blobs } = await outputOf(`${'x'.repeat(40_000)}hunter22`, {
    secrets: ['hunter22', 'x'],
  });
  expect(text).toContain('10001 characters left out');
  expect(text.endsWith('x…')).toBe(true);
  expect(full).toBe('2'.repeat(64));
  expect(blobs[1]).toBe(`text/plain ${40_000 + 3}`);
});

it('says what to do when it could not run', () => {
  const about = { memoryMb: 64, lastOutput: 'sh: not found' };
  expect(assertRan('a', { code: 3 }, about)).toBe(3);
  expect(() => assertRan('a', { code: 127 }, about)).toThrow(/cannot be run: .* sh: not found/);
  expect(() => assertRan('a', { code: 137, outOfMemory: true }, about)).toThrow(/64 MB/);
});

it('gives positionals, and the rest as pairs', () => {
  expect(actionArguments({ args: ['a b', 2], key: 'v w', on: true, '--help': 'x' })).toEqual([
    'a b',
    '2',
    'key=v w',
    'on=true',
  ]);
  expect(actionArguments({ args: 'one', long: 'x'.repeat(200_000) })).toEqual(['one']);
  expect(() => actionArguments({ a: '\0' })).toThrow(/NUL/);
});

it('names the field of an input that does not fit', () => {
  const schema = {
    type: 'object',
    required: ['text'],
    properties: {
      text: { type: 'string' },
      size: { type: ['integer', 'null'] },
      as: { enum: ['a'] },
    },
    additionalProperties: false,
  };
  const check = (input: Record<string, unknown>) => () => checkInput('say', schema, input);
  expect(check({ text: 'x', size: null, as: 'a' })).not.toThrow();
  expect(check({})).toThrow('action.say: text is missing.');
  expect(check({ text: 1 })).toThrow('text must be of type string');
  expect(check({ text: '', size: 1.5 })).toThrow('size must be of type integer or null');
  expect(check({ text: '', as: 'b' })).toThrow('as must be one of "a"');
  expect(check({ text: '', other: 1 })).toThrow('there is no field other');
  // The control: without a schema any object is fine, and a broken one breaks nothing.
  expect(() => checkInput('say', {}, { any: 1 })).not.toThrow();
  expect(() => checkInput('say', { required: 7, properties: [] }, { any: 1 })).not.toThrow();
});

it.each([
  [png, 'image/png'],
  [Buffer.from('<?xml version="1.0"?>\n<svg xmlns="x"/>'), 'image/svg+xml'],
  [Buffer.from('<html><svg></svg></html>'), 'text/plain'],
  [Buffer.from('grüße'), 'text/plain'],
  [Buffer.from([0xff, 0xfb, 1, 2]), 'audio/mpeg'],
  [Buffer.from([1, 2, 0xfe]), 'application/octet-stream'],
  [Buffer.alloc(0), 'text/plain'],
])('%j is of the type %s', (bytes, type) => {
  expect(fileType(bytes)).toBe(type);
});
