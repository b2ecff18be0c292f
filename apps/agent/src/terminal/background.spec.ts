import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { freePort, itLong, sampled, until } from '@belay/testing';
import { describeBackground, held } from './testing/describe-background.js';
import { TerminalBench } from './testing/terminal-bench.js';

describe.each(sampled(1, ['bash', 'sh']))('a background command with %s', describeBackground);

describe('a wait until something happens', () => {
  let bench: TerminalBench;
  beforeEach(async () => void (bench = await TerminalBench.open()));
  afterEach(() => bench.close());
  const node = process.execPath;
  const serve = (port: number) =>
    `sleep 0.5; '${node}' -e "require('net').createServer().listen(${port})"`;

  it('ends when a port answers', async () => {
    const port = await freePort();
    const command = serve(port);
    const result = await bench.run(command, { background: true, until: { port }, wait: 30 });
    expect(result).toMatchObject({ happened: 'port', status: 'background' });
    expect(await bench.call('terminal.read', { until: { port }, wait: 30 })).toMatchObject({
      happened: 'port',
    });
  });

  itLong('is not over for a port on which another program listened before', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, resolve));
    const address = server.address();
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
    const result = await bench.run(serve(port), { background: true, until: { port }, wait: 30 });
    server.close();
    expect(result).toMatchObject({ happened: 'end', status: 'exited', exitCode: 1 });
    expect(result.text).toContain('EADDRINUSE');
  });

  it('ends when a text appears, also in pieces and in colours, in the background or not', async () => {
    const command = "printf 'rea'; sleep 0.3; printf '\\033[32mdy\\033[0m now\\n'; sleep 600";
    const until = { text: 'ready now' };
    expect(await bench.run(command, { until })).toMatchObject({
      happened: 'text',
      status: 'running',
    });
    await bench.call('terminal.interrupt', { kill: true });
    const later = "sleep 0.3; printf '\\033[32mready\\033[0m now\\n'; sleep 600";
    expect(await bench.run(later, { until, background: true })).toMatchObject({
      happened: 'text',
      status: 'background',
    });
  });

  it('is over for a text that came since the last reading, and not for one that was read', async () => {
    const text = 'ready now';
    await bench.run(held("echo 'ready' now; sleep 600"), { background: true });
    writeFileSync(join(bench.folder, 'gate'), '');
    await until('it is printed', () => bench.screen().includes(text), {
      state: () => bench.screen(),
    });
    // What the user reads, the model has not read.
    const byUser = await bench.call('terminal.read', {}, { source: 'user' });
    expect(byUser.text).toContain(text);
    const read = (wait: number) => bench.call('terminal.read', { until: { text }, wait });
    expect(await read(30)).toMatchObject({ happened: 'text' });
    expect(await read(0.3)).toMatchObject({ happened: 'time', text: '' });
  });

  it('ends at once when the command dies, with its exit code', async () => {
    const until = { text: 'never' };
    expect(
      await bench.run('sleep 0.6; exit 5', { background: true, until, wait: 60 }),
    ).toMatchObject({ happened: 'end', status: 'exited', exitCode: 5 });
    // It has been dead for a while: a read does not wait for it either.
    const read = await bench.call('terminal.read', { until, wait: 60 });
    expect(read).toMatchObject({ happened: 'end', exitCode: 5 });
  });

  itLong('is bounded', async () => {
    const wait = 0.3;
    expect(await bench.run('sleep 600', { until: { text: 'never' }, wait })).toMatchObject({
      happened: 'time',
      status: 'running',
    });
    await expect(bench.run('true', { until: {} })).rejects.toThrow('a port or a text');
  });

  it('ends when the user writes: the command goes on', async () => {
    const controller = new AbortController();
    const run = bench.call(
      'terminal.run',
      { command: 'sleep 600', wait: 60 },
      { userWrote: controller.signal },
    );
    await until('it runs', () => bench.terminals.running().length === 1);
    controller.abort();
    expect(await run).toMatchObject({ happened: 'message', status: 'running' });
    expect(bench.terminals.running()).toHaveLength(1);
  });
});
