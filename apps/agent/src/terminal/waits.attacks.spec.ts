import { freePort, itLong, longestStallMs, sampled, until } from '@belay/testing';
import { describeFloods } from './testing/describe-floods.js';
import { TerminalBench } from './testing/terminal-bench.js';

const shortMs = 2_000;

describe('attacks: waits for a port or a text', () => {
  let bench: TerminalBench;
  beforeEach(async () => void (bench = await TerminalBench.open()));
  afterEach(() => bench.close());

  const printed = (text: string) => until('it is printed', () => bench.screen().includes(text));

  it('thousands of them are refused above a limit, commands go on, and the next one is taken', async () => {
    const port = await freePort();
    await bench.run('sleep 600', { background: true });
    const stop = new AbortController();
    const refusals: unknown[] = [];
    const waits = Array.from({ length: 2_000 }, (_, at) =>
      bench
        .call(
          'terminal.read',
          { until: at % 2 ? { port } : { text: 'never' }, wait: 3600 },
          { signal: stop.signal },
        )
        .catch((error: unknown) => void refusals.push(error)),
    );
    const stall = await longestStallMs(async () => {
      const result = await bench.run('yes | head -c 500000; echo done', { wait: 30 });
      expect(result.text).toContain('done');
    });
    expect(stall).toBeLessThan(shortMs);
    expect(refusals).toHaveLength(2_000 - 20);
    expect(refusals[0]).toMatchObject({ code: 'limit_reached' });
    stop.abort();
    await Promise.all(waits);
    const honest = { until: { text: 'ready' }, wait: 30 };
    expect(await bench.run('echo rea""dy; sleep 600', honest)).toMatchObject({ happened: 'text' });
  });

  itLong(
    'programs that listen on thousands of ports do not stall those who wait for one',
    async () => {
      const many =
        "let open = 0; for (let at = 0; at < 3000; at++) require('net').createServer().on('error', () => {}).listen(0, '127.0.0.1', () => { if (++open === 900) console.log('all' + ' open'); })";
      await bench.run(`'${process.execPath}' -e "${many}"`, { background: true });
      await printed('all open');
      const port = await freePort();
      const waits = () =>
        Promise.all(
          Array.from({ length: 20 }, () =>
            bench.call('terminal.read', { until: { port }, wait: 1 }, { source: 'user' }),
          ),
        );
      expect(await longestStallMs(waits)).toBeLessThan(shortMs);
      const serve = `'${process.execPath}' -e "require('net').createServer().listen(${port})"`;
      const honest = { until: { port }, wait: 30, terminal: 'other', background: true };
      expect(await bench.run(serve, honest)).toMatchObject({ happened: 'port' });
    },
  );

  it('a text is not a pattern, however it looks', async () => {
    const command = 'printf "%040d\\n" 0 | tr 0 a; sleep 600';
    await bench.run(command, { background: true });
    await printed('a'.repeat(40));
    const searched = ['(a+)+$', 'a{40}', '.*', '^a', 'aaa'].map(async (text) => {
      const read = { from: 0, until: { text }, wait: 0.5 };
      return (await bench.call('terminal.read', read)).happened;
    });
    expect(await Promise.all(searched)).toEqual([...Array(4).fill('time'), 'text']);
    await bench.call('terminal.interrupt', { kill: true });
    expect(
      await bench.run("echo '(a+)+$'; sleep 600", { until: { text: '(a+)+$' } }),
    ).toMatchObject({ happened: 'text' });
  });

  it('none outlives its terminal', async () => {
    await bench.run('sleep 600', { background: true });
    const read = bench.call('terminal.read', { until: { text: 'never' }, wait: 3600 });
    const port = bench.call('terminal.read', { until: { port: await freePort() }, wait: 3600 });
    await bench.call('terminal.close', { terminal: 'main' });
    expect([(await read).happened, (await port).happened]).toEqual(['end', 'end']);
  });
});

describeFloods(
  sampled(1, [
    ['begun titles', '\\033]'],
    ['begun colours', '\\033['],
    ['colours', '\\033[0;'],
    ['long titles', `\\033]${'x'.repeat(900)}`],
    ['long colours', `\\033[${'0'.repeat(90)}   `],
  ]),
);
