import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { programCalls, programServerCalls, type ProgramStart } from '@belay/protocol';
import { memoryConnections, outputPieces, type MemoryConnections } from '@belay/rpc';
import { servePrograms } from './serve-programs.js';

describe('the starter', () => {
  let folder: string;
  let connections: MemoryConnections<typeof programServerCalls, typeof programCalls>;
  let left: number;
  const files: string[] = [];

  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'belay-starter-')));
    connections = memoryConnections({ server: programServerCalls, agent: programCalls });
    left = 0;
    const imageEnvironment = { PATH: process.env['PATH'] ?? '', OF: 'image' };
    servePrograms(connections.agent, { imageEnvironment, killRest: async () => left });
    connections.server.accept('files', async (_, stream) => {
      void text(stream).then((sent) => files.push(sent));
    });
    connections.server.accept('egress', async ({ host }, stream) => void stream.end(`of ${host}`));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const open = (script: string, more: Partial<ProgramStart> = {}) =>
    connections.server.open('program', {
      command: ['/bin/sh', '-c', script],
      folder,
      env: {},
      egress: false,
      services: {},
      output: null,
      ...more,
    });
  async function run(script: string, more: Partial<ProgramStart> & { input?: string } = {}) {
    const { input = '', ...start } = more;
    const stream = await open(script, start);
    stream.end(input);
    const printed = { out: '', errors: '' };
    for await (const { isError, data } of outputPieces(stream))
      printed[isError ? 'errors' : 'out'] += data.toString();
    return { ...printed, ...(await connections.server.call('program.end', {})) };
  }

  it('runs programs with their input, variables and folder, and tells how they ended', async () => {
    const script = 'read word; echo "$word $OF $OWN"; pwd; echo oh >&2; exit 3';
    const first = await run(script, { input: 'hello\n', env: { OWN: 'x' } });
    expect(first).toEqual({
      out: `hello image x\n${folder}\n`,
      errors: 'oh\n',
      code: 3,
      left: 0,
      outOfMemory: false,
    });
    left = 2;
    expect(await run('kill -9 $$')).toMatchObject({ code: 137, left: 2 });
    const missing = await run('', { command: ['/no/such/program'] });
    expect(missing).toMatchObject({ code: 127, errors: expect.stringContaining('ENOENT') });
  });

  it('names a folder that cannot be entered, and not the program', async () => {
    const folder = '/no/such/folder';
    const blocked = await run('true', { folder });
    expect(blocked).toMatchObject({ code: 1, out: '' });
    expect(blocked.errors).toMatch(
      /^Belay: its folder \/no\/such\/folder cannot be entered \(ENOENT\)/,
    );
  });

  it('passes on much output, and none of a program that ended before it read its input', async () => {
    const long = await run('head -c 3000000 /dev/zero');
    expect(long.out).toHaveLength(3_000_000);
    expect(await run('true', { input: 'x'.repeat(500_000) })).toMatchObject({ code: 0, out: '' });
  });

  it('runs one program at a time, and kills one whose stream is destroyed', async () => {
    const first = await open('echo begun; exec sleep 1000');
    await expect(open('true')).rejects.toMatchObject({ code: 'conflict' });
    first.destroy();
    expect(await connections.server.call('program.end', {})).toMatchObject({ code: 137 });
    expect(await run('echo next')).toMatchObject({ code: 0, out: 'next\n' });
  });

  it('sends the files that a program leaves, and opens connections for it', async () => {
    const output = mkdtempSync(join(folder, 'output-'));
    const script = `
      echo one > '${output}/a'; ln -s /etc/passwd '${output}/link'
      echo "$HTTP_PROXY"`;
    const { out } = await run(script, { output, egress: true });
    expect(files).toEqual(['{"name":"a","bytes":4}\none\n']);
    expect(out).toMatch(/^http:\/\/127\.0\.0\.1:\d+\n$/);
    expect((await run(`ls -A '${output}'`)).out).toBe('');
  });
});
