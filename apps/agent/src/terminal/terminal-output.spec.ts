import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, socketPair } from '@belay/testing';
import { Changes } from './changes.js';
import { mostShown, TerminalOutput } from './terminal-output.js';
import { MemoryStream } from './testing/memory-stream.js';

/** Its files are in a folder of their own, because of the slash. */
const name = `belay-${randomUUID()}`;
const folder = join(tmpdir(), `output-${name}`);
let output: TerminalOutput;
beforeEach(() => {
  output = new TerminalOutput({
    terminal: `${name}/main`,
    start: 0,
    openStream: async () => new MemoryStream(async () => undefined),
    changes: new Changes(),
    onHold: () => undefined,
  });
});
afterEach(() => {
  output.close();
  rmSync(folder, { recursive: true, force: true });
});

const begin = () => output.begin('print', { background: false });
const receive = () => output.receive(Buffer.from('x'.repeat(mostShown + 1)), false);

it('writes the output of a command to a file when a result names it', () => {
  mkdirSync(folder);
  const from = begin();
  receive();
  output.receive(Buffer.from('\r\nlast'), false);
  output.prompt('$ ', { replace: false });
  expect(readdirSync(folder)).toEqual([]);
  expect(readFileSync(output.fileFrom(from) ?? '', 'utf8')).toMatch(/^x+\nlast$/);
});

it('has the last part of output that is too long to keep, and says so', async () => {
  mkdirSync(folder);
  const from = begin();
  await eventually(() => {
    output.receive(Buffer.alloc(2 ** 20, 'x'), false);
    expect(output.scrollback.start).toBeGreaterThan(from);
  });
  output.receive(Buffer.from('last'), false);
  const [, path = '', size] = /^(\S+) \(only (.+) of it\)$/.exec(output.fileFrom(from) ?? '') ?? [];
  expect(size).toMatch(/^1[67](\.\d)? MiB$/);
  expect(readFileSync(path, 'utf8').endsWith('xlast')).toBe(true);
});

it('has new output in the file soon, for programs that read it meanwhile', async () => {
  mkdirSync(folder);
  const from = begin();
  receive();
  const file = output.fileFrom(from) ?? '';
  output.receive(Buffer.from('later'), false);
  await eventually(() => expect(readFileSync(file, 'utf8')).toMatch(/later$/));
});

it('tries once for each command to create its file', () => {
  const from = begin();
  receive();
  expect(output.fileFrom(from)).toBeNull();
  mkdirSync(folder);
  receive();
  expect(output.fileFrom(from)).toBeNull();
  expect(readdirSync(folder)).toEqual([]);
  const next = begin();
  receive();
  expect(existsSync(output.fileFrom(next) ?? '')).toBe(true);
});

it('is not quiet when output came while this process was kept waiting', async () => {
  const { near, far, close } = await socketPair();
  near.on('data', (bytes: Buffer) => output.receive(bytes, false));
  const quiet = output.quiet();
  far.write('late');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  await quiet;
  const { start, end } = output.scrollback;
  expect(output.scrollback.slice(start, end).toString()).toContain('late');
  close();
});
